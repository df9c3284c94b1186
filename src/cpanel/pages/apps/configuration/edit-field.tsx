import { useState, type FormEvent } from "react";
import type { ConfigField, WorkerConfig } from "../../../../shared/contract/configuration.js";
import { Button } from "../../../components/button.js";
import { Modal } from "../../../components/modal.js";
import { SchemaField } from "../../../components/schema-form/schema-field.js";
import { ConfigError } from "../../configuration/config-error.js";
import { faultOf } from "../../configuration/config-faults.js";
import type { ConfigSave } from "../../configuration/use-config-change.js";
import { valueText } from "../../configuration/value-text.js";
import { schemaOfField } from "./field-schemas.js";

interface EditFieldProps {
  readonly config: WorkerConfig;
  readonly field: ConfigField;
  readonly save: ConfigSave;
  readonly onClose: () => void;
}

/** Dialog with the form of one field. "Use the default" removes the field from the manifest. */
export function EditField({ config, field: { name, value: given, source, limit }, save, onClose }: EditFieldProps) {
  const [value, setValue] = useState<unknown>(given ?? undefined);
  const close = () => {
    save.reset();
    onClose();
  };
  const submit = async (written: unknown) => {
    if (await save.save(config, { set: { [name]: written ?? null } }, name)) close();
  };
  return (
    <Modal title={`Edit ${name}`} onClose={close} isHeld={save.isPending}>
      {limit !== undefined && (
        <p className="quiet">
          Limit of the daemon: <code>{valueText(limit)}</code>
        </p>
      )}
      <form
        className="modal-dialog-form"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void submit(value);
        }}
      >
        <SchemaField label={name} schema={schemaOfField(name)} value={value} onChange={setValue} error={faultOf(save.faults, name)} />
        <ConfigError save={save} fields={[name]} />
        <div className="modal-buttons">
          {source !== "default" && (
            <Button isDisabled={save.isPending} onPress={() => void submit(null)}>
              Use the default
            </Button>
          )}
          <Button isDisabled={save.isPending} onPress={close}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isPending={save.isPending}>
            Save {name}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
