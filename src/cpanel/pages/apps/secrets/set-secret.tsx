import { useState, type FormEvent } from "react";
import { toPathSegments } from "../../../../shared/package-name.js";
import { isSecretName, secretNameForm, secretValueProblem } from "../../../../shared/secret-name.js";
import { Button } from "../../../components/button.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { Modal } from "../../../components/modal.js";
import { TextInput } from "../../../components/text-input.js";
import { useMutation } from "../../../components/use-mutation.js";
import { useApi } from "../../../live/use-api.js";
import { usePanel } from "../../../use-panel.js";
import { secretOperations } from "./secret-operations.js";

interface SetSecretProps {
  readonly app: string;
  /** Name of the secret to set. If empty, the user enters the name. */
  readonly name: string;
  readonly onClose: () => void;
  readonly onSet: () => Promise<void>;
}

/** Dialog that sets a secret of an app. The panel sends the value once and never shows it again. */
export function SetSecret({ app, name: given, onClose, onSet }: SetSecretProps) {
  const api = useApi(secretOperations);
  const { toasts } = usePanel();
  const [name, setName] = useState(given);
  const [value, setValue] = useState("");
  const { isPending, error, run } = useMutation();
  const isAccepted = isSecretName(name) && secretValueProblem(value) === undefined;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!isAccepted) return;
    const isSet = await run(async () => {
      await api.secrets.set({ params: { ...toPathSegments(app), key: name }, body: { value } });
    });
    if (!isSet) return;
    toasts.say(`The secret ${name} is set.`);
    onClose();
    await onSet();
  };
  return (
    <Modal title={given === "" ? `Set a secret of ${app}` : `Set ${given} of ${app}`} onClose={onClose} isHeld={isPending}>
      <p>New isolates start with the value. It is stored encrypted and never shown again.</p>
      <form onSubmit={(event) => void save(event)} className="modal-dialog-form">
        {given === "" && (
          <TextInput
            label="Name"
            value={name}
            onChange={setName}
            autoComplete="off"
            autoFocus
            placeholder="STRIPE_KEY"
            error={name === "" || isSecretName(name) ? undefined : `must be ${secretNameForm}`}
          />
        )}
        <TextInput
          label="Value"
          type="password"
          value={value}
          onChange={setValue}
          autoComplete="new-password"
          autoFocus={given !== ""}
          hint="For a value of several lines use runtimectl secrets set."
          error={value === "" ? undefined : secretValueProblem(value)}
        />
        {error !== undefined && <ErrorMessage error={error} />}
        <div className="modal-buttons">
          <Button onPress={onClose} isDisabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isDisabled={!isAccepted} isPending={isPending}>
            Set secret
          </Button>
        </div>
      </form>
    </Modal>
  );
}
