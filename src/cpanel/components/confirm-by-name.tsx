import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./button.js";
import { ErrorMessage } from "./error-message.js";
import { Modal } from "./modal.js";
import { TextInput } from "./text-input.js";
import { useMutation } from "./use-mutation.js";

export interface ConfirmByNameProps {
  readonly title: string;
  /** The text that the user must type. */
  readonly name: string;
  /** Label of the button, such as `Revoke key`. */
  readonly action: string;
  /** A description of the items that the deletion removes, with numbers where they are known. */
  readonly children: ReactNode;
  /** When the promise resolves, the dialog closes; when it rejects, the dialog shows the error. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Confirms an action that cannot be undone: the user types the name. The input has the focus, so Enter never presses Cancel. */
export function ConfirmByName({ title, name, action, children, onConfirm, onClose }: ConfirmByNameProps) {
  const [typed, setTyped] = useState("");
  const { isPending, error, run } = useMutation();
  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (typed === name && (await run(onConfirm))) onClose();
  };
  return (
    <Modal title={title} onClose={onClose} isAlert isHeld={isPending}>
      <div>{children}</div>
      <form onSubmit={(event) => void confirm(event)} className="modal-dialog-form">
        <TextInput label={`Type ${name} to confirm`} value={typed} onChange={setTyped} autoComplete="off" autoFocus />
        {error !== undefined && <ErrorMessage error={error} />}
        <div className="modal-buttons">
          <Button onPress={onClose} isDisabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" kind="danger" isDisabled={typed !== name} isPending={isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
