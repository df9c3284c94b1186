import { Modal } from "../components/modal.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import { SignInForm } from "./sign-in-form.js";

/** Over the page, which stays as it is: whoever was here signs in again and goes on. */
export function SessionEnded() {
  const { session } = usePanel();
  const state = useObserved(session.state);
  if (state.phase !== "signed-in" || !state.hasEnded) return null;
  return (
    <Modal title="Your session has ended" onClose={() => undefined} isAlert isHeld>
      <p>The daemon no longer accepts it: it ran out, or its key was revoked. Nothing on this page is lost. Sign in to go on.</p>
      <SignInForm />
    </Modal>
  );
}
