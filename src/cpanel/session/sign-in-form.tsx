import { useRef, useState, type FormEvent } from "react";
import { Button } from "../components/button.js";
import { ErrorMessage } from "../components/error-message.js";
import { TextInput } from "../components/text-input.js";
import { useMutation } from "../components/use-mutation.js";
import { usePanel } from "../use-panel.js";

/** Form that signs the user in with an API key. The panel sends the key once and does not store it. */
export function SignInForm({ onSignedIn, onTyping }: { onSignedIn?: () => void; onTyping?: () => void }) {
  const { session } = usePanel();
  const [key, setKey] = useState("");
  const [isShown, setShown] = useState(false);
  const { isPending, error, run } = useMutation();
  const form = useRef<HTMLFormElement>(null);
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    const given = key.trim();
    setKey("");
    const isIn = await run(async () => {
      if (given === "") throw new Error("Paste a key first.");
      await session.signIn(given);
    });
    if (isIn) onSignedIn?.();
    else form.current?.querySelector("input")?.focus();
  };
  return (
    <form ref={form} onSubmit={(event) => void signIn(event)} className="sign-in-form" autoComplete="off">
      <TextInput
        label="API key"
        name="key"
        type={isShown ? "text" : "password"}
        value={key}
        onChange={(text) => {
          setKey(text);
          onTyping?.();
        }}
        autoComplete="off"
        autoFocus
        hint="The key is stored in a session cookie that scripts cannot read. At its start, the daemon prints the location of the first key; runtimectl keys create creates others."
        extra={
          <Button aria-pressed={isShown} onPress={() => setShown(!isShown)}>
            {isShown ? "Hide" : "Show"}
          </Button>
        }
      />
      {error !== undefined && <ErrorMessage error={error} />}
      <Button type="submit" kind="primary" isPending={isPending}>
        {isPending ? "Signing in…" : "Sign in"}
      </Button>
    </form>
  );
}
