import { Button } from "../../components/button.js";
import { Modal } from "../../components/modal.js";
import type { EditConflict } from "./use-save.js";

interface OverwriteDialogProps {
  readonly name: string;
  readonly how: EditConflict;
  readonly onOverwrite: () => Promise<void>;
  /** Discards the user's changes and shows the other client's version of the file. */
  readonly onReload: () => void;
  readonly onClose: () => void;
}

/** Asks before a save overwrites another client's change. */
export function OverwriteDialog({ name, how, onOverwrite, onReload, onClose }: OverwriteDialogProps) {
  const overwrite = async () => {
    onClose();
    await onOverwrite();
  };
  return (
    <Modal title={`${name} was ${how} meanwhile`} onClose={onClose} isAlert>
      <p>
        {how === "deleted"
          ? "It was deleted after it was opened here. Nothing was saved yet. Saving creates the file again."
          : "Another user changed the file after it was opened here. Nothing was saved yet. Saving overwrites the other change."}
      </p>
      <div className="modal-buttons">
        <Button onPress={onClose} autoFocus>
          Keep editing
        </Button>
        {how === "changed" && <Button onPress={onReload}>Show the current version</Button>}
        <Button kind="danger" onPress={() => void overwrite()}>
          {how === "deleted" ? "Save again" : "Overwrite"}
        </Button>
      </div>
    </Modal>
  );
}
