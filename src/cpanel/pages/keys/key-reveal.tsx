import { useEffect, useRef, useState } from "react";
import type { NewKey } from "../../../shared/contract/keys.js";
import { Button } from "../../components/button.js";
import { CheckChoice } from "../../components/check-choice.js";
import { Modal } from "../../components/modal.js";
import { endText } from "../../components/absolute-time.js";
import { usePanel } from "../../use-panel.js";

/** Dialog that shows the secret of a new key once. Only Done closes the dialog, after the user has confirmed that the secret is stored. */
export function KeyReveal({ created, onStored }: { created: NewKey; onStored: () => void }) {
  const { router } = usePanel();
  const [isStored, setStored] = useState(false);
  const [copied, setCopied] = useState<"no" | "yes" | "refused">("no");
  const secret = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const hold = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", hold);
    const leave = router.guard(() => false);
    return () => {
      removeEventListener("beforeunload", hold);
      leave();
    };
  }, [router]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(created.key);
      setCopied("yes");
    } catch {
      // Selects the key for copying by hand, because browsers provide the clipboard in secure contexts only.
      secret.current?.select();
      setCopied("refused");
    }
  };
  return (
    <Modal title={`The key ${created.name}`} onClose={() => undefined} isAlert isHeld>
      <p>
        The key is shown only once; the daemon stores only its hash. It{" "}
        {created.expiresAt === undefined ? "never ends" : `ends on ${endText(created.expiresAt, Date.now() / 1000)}`}.
      </p>
      <div className="key-secret">
        <input
          ref={secret}
          className="key-secret-text"
          aria-label="Secret"
          readOnly
          value={created.key}
          onFocus={(event) => event.target.select()}
        />
        <Button onPress={() => void copy()}>Copy</Button>
      </div>
      <p role="status" className="quiet small">
        {copied === "yes" && "Copied."}
        {copied === "refused" && "The browser denies access to the clipboard. The text is selected: copy it with the keyboard."}
      </p>
      <CheckChoice isSelected={isStored} onChange={setStored}>
        I have stored it
      </CheckChoice>
      <div className="modal-buttons">
        <Button
          kind="primary"
          isDisabled={!isStored}
          onPress={() => {
            onStored();
            // The open dialog blocks navigation, so the panel navigates only after the dialog is closed.
            setTimeout(() => router.go("keys"));
          }}
        >
          Done
        </Button>
      </div>
    </Modal>
  );
}
