import { useState } from "react";
import { Button } from "../components/button.js";
import { Icon } from "../components/icon.js";
import { usePanel } from "../use-panel.js";

/** Ends the session. If the daemon does not respond, a message shows the error and the user stays signed in. */
export function SignOutButton() {
  const { session, toasts } = usePanel();
  const [isPending, setPending] = useState(false);
  const signOut = async () => {
    setPending(true);
    await session.signOut().catch((error: Error) => {
      setPending(false);
      toasts.say(error.message, { tone: "danger" });
    });
  };
  return (
    <Button onPress={() => void signOut()} isPending={isPending}>
      <Icon name="sign-out" /> Sign out
    </Button>
  );
}
