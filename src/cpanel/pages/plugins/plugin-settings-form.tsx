import { useState, type FormEvent } from "react";
import type { ConfigSchema } from "../../../shared/config-schema.js";
import type { PluginConfig } from "../../../shared/contract/configuration.js";
import { Button } from "../../components/button.js";
import { DataTable } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { isMap } from "../../components/schema-form/schema-kind.js";
import { SchemaField } from "../../components/schema-form/schema-field.js";
import { ConfigError } from "../configuration/config-error.js";
import { faultOf } from "../configuration/config-faults.js";
import type { ConfigSave } from "../configuration/use-config-change.js";
import { valueText } from "../configuration/value-text.js";
import { UnsavedDialog } from "../files/unsaved-dialog.js";
import { useUnsaved } from "../files/use-unsaved.js";

interface PluginSettingsFormProps {
  readonly config: PluginConfig;
  readonly save: ConfigSave;
  readonly isEditable: boolean;
}

/**
 * Form with one field for each property of the plugin's schema. If the schema or the permission is missing, shows the settings in a table
 * instead.
 */
export function PluginSettingsForm({ config, save, isEditable }: PluginSettingsFormProps) {
  const properties = propertiesOf(config.schema);
  if (isEditable && Object.keys(properties).length > 0) return <EditableForm config={config} properties={properties} save={save} />;
  if (config.fields.length === 0)
    return <EmptyState title="No settings">The manifest of the plugin has no configSchema and no settings.</EmptyState>;
  return (
    <DataTable
      caption="Settings"
      columns={[
        { id: "name", title: "Setting", cell: ({ name }) => <code>{name}</code> },
        { id: "value", title: "Value", cell: ({ value }) => <code className="config-value">{valueText(value)}</code> },
        { id: "source", title: "Source", cell: ({ source }) => source },
      ]}
      rows={config.fields}
      keyOf={({ name }) => name}
    />
  );
}

interface Draft {
  /** The configuration that the draft is based on, with its etag. */
  readonly config: PluginConfig;
  /** Changed settings by name. Undefined removes a setting from the manifest. */
  readonly values: Readonly<Record<string, unknown>>;
}

interface EditableFormProps extends Omit<PluginSettingsFormProps, "isEditable"> {
  readonly properties: Readonly<Record<string, ConfigSchema>>;
}

function EditableForm({ config: current, properties, save }: EditableFormProps) {
  const [draft, setDraft] = useState<Draft>();
  const [round, setRound] = useState(0);
  const config = draft?.config ?? current;
  const names = Object.keys(draft?.values ?? {});
  const unsaved = useUnsaved(draft !== undefined);
  const declared = (name: string) => config.fields.find((field) => field.name === name && field.source === "manifest")?.value;
  const valueOf = (name: string) => (draft && Object.hasOwn(draft.values, name) ? draft.values[name] : declared(name));
  const discard = () => {
    setDraft(undefined);
    setRound(round + 1);
    save.reset();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!draft) return;
    const set = Object.fromEntries(names.map((name) => [name, draft.values[name] ?? null]));
    if (await save.save(config, { set }, names.join(", "))) discard();
  };
  return (
    <form className="card config-settings" onSubmit={(event) => void submit(event)}>
      {Object.entries(properties).map(([name, schema]) => (
        <SchemaField
          key={`${round} ${name}`}
          label={schema.title ?? name}
          schema={schema}
          value={valueOf(name)}
          error={faultOf(save.faults, name)}
          onChange={(value) => setDraft({ config, values: { ...draft?.values, [name]: value } })}
        />
      ))}
      <ConfigError save={save} fields={Object.keys(properties)} />
      <div className="modal-buttons">
        {draft && (
          <Button isDisabled={save.isPending} onPress={discard}>
            Discard changes
          </Button>
        )}
        <Button type="submit" kind="primary" isDisabled={!draft} isPending={save.isPending}>
          Save settings
        </Button>
      </div>
      {unsaved.isAsking && <UnsavedDialog name="The form" onStay={unsaved.stay} onDiscard={discard} />}
    </form>
  );
}

/** Returns the properties of a schema from the API. The daemon has checked the schema. */
function propertiesOf(schema: PluginConfig["schema"]): Readonly<Record<string, ConfigSchema>> {
  const properties = schema?.["properties"];
  return isMap(properties) ? (properties as Readonly<Record<string, ConfigSchema>>) : {};
}
