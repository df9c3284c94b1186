import { useState, type FormEvent } from "react";
import type { WorkerConfig } from "../../../../shared/contract/configuration.js";
import { Button } from "../../../components/button.js";
import { Modal } from "../../../components/modal.js";
import { TextInput } from "../../../components/text-input.js";
import { ConfigError } from "../../configuration/config-error.js";
import { faultOf } from "../../configuration/config-faults.js";
import type { ConfigSave } from "../../configuration/use-config-change.js";

interface EditVariableProps {
  readonly config: WorkerConfig;
  /** The variable to change. Undefined for a new variable. */
  readonly variable: WorkerConfig["env"][number] | undefined;
  readonly save: ConfigSave;
  readonly onClose: () => void;
}

/** Dialog that adds a variable or changes its value. */
export function EditVariable({ config, variable, save, onClose }: EditVariableProps) {
  const [name, setName] = useState(variable?.name ?? "");
  const [value, setValue] = useState(variable?.value ?? "");
  const isTaken = variable === undefined && config.env.some((other) => other.name === name);
  const close = () => {
    save.reset();
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name === "" || isTaken) return;
    const env = Object.fromEntries([...config.env.map((other) => [other.name, other.value ?? ""]), [name, value]]) as Record<
      string,
      string
    >;
    if (await save.save(config, { set: { env } }, name)) close();
  };
  return (
    <Modal title={variable ? `Edit ${name}` : "Add a variable"} onClose={close} isHeld={save.isPending}>
      <p>The manifest stores the value as plain text. Store passwords and tokens as secrets.</p>
      <form onSubmit={(event) => void submit(event)} className="modal-dialog-form">
        {!variable && (
          <TextInput
            label="Name"
            value={name}
            onChange={setName}
            autoComplete="off"
            autoFocus
            placeholder="GREETING"
            error={isTaken ? `The variable ${name} exists. Edit it in the table.` : undefined}
          />
        )}
        <TextInput
          label="Value"
          value={value}
          onChange={setValue}
          autoComplete="off"
          autoFocus={variable !== undefined}
          error={faultOf(save.faults, "env")}
        />
        <ConfigError save={save} fields={["env"]} />
        <div className="modal-buttons">
          <Button isDisabled={save.isPending} onPress={close}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isDisabled={name === "" || isTaken} isPending={save.isPending}>
            Save variable
          </Button>
        </div>
      </form>
    </Modal>
  );
}
