import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./button.js";
import { ErrorMessage } from "./error-message.js";
import { Modal } from "./modal.js";
import { TextInput } from "./text-input.js";
import { useMutation } from "./use-mutation.js";

export interface ConfirmByNameProps {
  readonly title: string;
  /** Name that the user must type to confirm the action. */
  readonly name: string;
  /** Label of the button that runs the action, such as `Revoke key`. */
  readonly action: string;
  /** Description of the effects of the action, such as the number of deleted versions. */
  readonly children: ReactNode;
  /** Runs the confirmed action. If the promise resolves, the dialog closes. If the promise rejects, the dialog shows the error. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/**
 * Confirmation dialog for an irreversible action. The user must type a name. The input has the focus, so that the Enter key never presses
 * Cancel.
 */
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
