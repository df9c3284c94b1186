import { Button } from "../../components/button.js";
import { Modal } from "../../components/modal.js";

/** Asks before unsaved changes are lost. */
export function UnsavedDialog({ name, onStay, onDiscard }: { name: string; onStay: () => void; onDiscard: () => void }) {
  return (
    <Modal title={`${name} is not saved`} onClose={onStay} isAlert>
      <p>What was changed is in this page only. Save it first, or discard it and go on.</p>
      <div className="modal-buttons">
        <Button kind="danger" onPress={onDiscard}>
          Discard changes
        </Button>
        <Button kind="primary" onPress={onStay} autoFocus>
          Keep editing
        </Button>
      </div>
    </Modal>
  );
}
