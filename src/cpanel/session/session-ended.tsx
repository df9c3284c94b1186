import { Modal } from "../components/modal.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import { SignInForm } from "./sign-in-form.js";

/** Dialog that covers the page when the session has ended. After the user signs in again, the page still contains all typed input. */
export function SessionEnded() {
  const { session } = usePanel();
  const state = useObserved(session.state);
  if (state.phase !== "signed-in" || !state.hasEnded) return null;
  return (
    <Modal title="Your session has ended" onClose={() => undefined} isAlert isHeld>
      <p>The session has expired, or its key was revoked. Nothing on this page is lost. Sign in to continue.</p>
      <SignInForm />
    </Modal>
  );
}
