import { useState, type FormEvent } from "react";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Icon } from "../../components/icon.js";
import { Modal } from "../../components/modal.js";
import { SelectField } from "../../components/select-field.js";
import { TextInput } from "../../components/text-input.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { useApps } from "../apps/use-apps.js";
import { hostOperations } from "./host-operations.js";

interface AddHostProps {
  /** Name of the worker that the host serves. If undefined, the user selects the worker in the dialog. */
  readonly worker?: string | undefined;
}

/** Button that opens a dialog with the host name and the app that it serves. Hidden without the permission to add host names. */
export function AddHost({ worker }: AddHostProps) {
  const [isOpen, setOpen] = useState(false);
  if (!useMay("workers:install")) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <Icon name="add" /> Add host
      </Button>
      {isOpen && <AddHostDialog worker={worker} onClose={() => setOpen(false)} />}
    </>
  );
}

function AddHostDialog({ worker: given, onClose }: AddHostProps & { readonly onClose: () => void }) {
  const api = useApi(hostOperations);
  const { resources, toasts } = usePanel();
  const { apps } = useApps();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState("");
  const { isPending, error, run } = useMutation();
  const host = typed.trim();
  const worker = given ?? (chosen === "" ? apps[0]?.name : chosen);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (host === "" || worker === undefined) return;
    const isAdded = await run(async () => void (await api.hosts.add({ params: { host }, body: { worker } })));
    if (!isAdded) return;
    toasts.say(`${host} leads to ${worker}.`);
    onClose();
    await resources.of("hosts").refreshAfterChange();
  };
  return (
    <Modal title={given === undefined ? "Add a host" : `Add a host for ${given}`} onClose={onClose} isHeld={isPending}>
      <form onSubmit={(event) => void add(event)} className="modal-dialog-form">
        <TextInput
          label="Host name"
          hint="A DNS name that leads to this daemon, such as shop.example.org."
          value={typed}
          onChange={setTyped}
          autoComplete="off"
          autoFocus
        />
        {given === undefined && (
          <SelectField
            label="App"
            value={worker ?? ""}
            onChange={setChosen}
            choices={apps.map(({ name }) => ({ value: name, label: name }))}
          />
        )}
        {error !== undefined && <ErrorMessage title={`${host} could not be added`} error={error} />}
        <div className="modal-buttons">
          <Button onPress={onClose} isDisabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isDisabled={host === "" || worker === undefined} isPending={isPending}>
            Add host
          </Button>
        </div>
      </form>
    </Modal>
  );
}
