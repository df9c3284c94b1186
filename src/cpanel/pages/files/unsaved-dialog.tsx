import { Button } from "../../components/button.js";
import { Modal } from "../../components/modal.js";

/** Dialog in which the user keeps or discards unsaved changes. */
export function UnsavedDialog({ name, onStay, onDiscard }: { name: string; onStay: () => void; onDiscard: () => void }) {
  return (
    <Modal title={`${name} is not saved`} onClose={onStay} isAlert>
      <p>The changes are only on this page. Save them first, or discard them and continue.</p>
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
