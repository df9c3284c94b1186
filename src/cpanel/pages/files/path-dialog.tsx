import { useState, type FormEvent } from "react";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Modal } from "../../components/modal.js";
import { TextInput } from "../../components/text-input.js";
import { useMutation } from "../../components/use-mutation.js";

interface PathDialogProps {
  readonly title: string;
  readonly label: string;
  readonly hint?: string;
  readonly initial: string;
  /** Label of the submit button. */
  readonly action: string;
  /**
   * Runs the action with the entered text. If the promise resolves, the dialog closes. If the promise rejects, the dialog shows the error.
   */
  readonly onSubmit: (text: string) => Promise<void>;
  readonly onClose: () => void;
}

/** A dialog with one field for a name or a path. */
export function PathDialog({ title, label, hint, initial, action, onSubmit, onClose }: PathDialogProps) {
  const [text, setText] = useState(initial);
  const { isPending, error, run } = useMutation();
  const isAsked = text !== "" && text !== initial;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isAsked && (await run(() => onSubmit(text)))) onClose();
  };
  return (
    <Modal title={title} onClose={onClose} isHeld={isPending}>
      <form onSubmit={(event) => void submit(event)} className="modal-dialog-form">
        <TextInput label={label} value={text} onChange={setText} autoComplete="off" autoFocus {...(hint === undefined ? {} : { hint })} />
        {error !== undefined && <ErrorMessage title="Nothing was changed" error={error} />}
        <div className="modal-buttons">
          <Button onPress={onClose} isDisabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isDisabled={!isAsked} isPending={isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
