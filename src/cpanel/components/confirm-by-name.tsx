import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./button.js";
import { ErrorMessage } from "./error-message.js";
import { Modal } from "./modal.js";
import { TextInput } from "./text-input.js";
import { useMutation } from "./use-mutation.js";

export interface ConfirmByNameProps {
  readonly title: string;
  /** What has to be typed. */
  readonly name: string;
  /** What the button says: `Revoke key`. */
  readonly action: string;
  /** What will be gone, in numbers where there are any. */
  readonly children: ReactNode;
  /** Closes itself when this resolves; shows why when it throws. */
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
