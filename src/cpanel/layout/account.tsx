import { useState } from "react";
import { Button } from "../components/button.js";
import { usePrincipal } from "../session/use-principal.js";
import { usePanel } from "../use-panel.js";

/** Shows the name of the signed-in key and the sign-out button. */
export function Account() {
  const { session, toasts } = usePanel();
  const { name, role, namespaces } = usePrincipal();
  const [isPending, setPending] = useState(false);
  const signOut = async () => {
    setPending(true);
    await session.signOut().catch((error: Error) => {
      setPending(false);
      toasts.say(error.message, { tone: "danger" });
    });
  };
  return (
    <div className="account">
      <div className="account-who">
        <p className="account-name">{name}</p>
        <p className="quiet small">
          {role}
          {!namespaces.includes("*") && ` · ${namespaces.join(", ")} only`}
        </p>
      </div>
      <Button onPress={() => void signOut()} isPending={isPending}>
        Sign out
      </Button>
    </div>
  );
}
