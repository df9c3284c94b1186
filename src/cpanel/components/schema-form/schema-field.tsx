import type { ReactNode } from "react";
import type { ConfigSchema } from "../../../shared/config-schema.js";
import { ChoiceField } from "./choice-field.js";
import { ListField } from "./list-field.js";
import { isMap, kindOf, textOfValue, valueOfText, withProperty } from "./schema-kind.js";
import { TextInput } from "../text-input.js";
import { YamlField } from "./yaml-field.js";
import "./schema-form.css";

export interface SchemaFieldProps {
  readonly label: string;
  readonly schema: ConfigSchema;
  /** The value; undefined if the field is not set. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** Sentence that states why the value is invalid. Undefined for a valid value. */
  readonly error?: string | undefined;
}

/** A form field for a value of a schema. Shows a text, a choice, a list or a group of fields, and YAML for every other value. */
export function SchemaField(props: SchemaFieldProps): ReactNode {
  const { label, schema, value, onChange, error } = props;
  const kind = kindOf(schema);
  if (kind === "yaml") return <YamlField {...props} />;
  if (kind === "choice" || kind === "boolean")
    return <ChoiceField {...props} choices={kind === "choice" ? (schema.enum ?? []) : [true, false]} />;
  if (kind === "list") return <ListField {...props} items={schema.items ?? {}} />;
  if (kind === "switch") return <SwitchField {...props} />;
  if (kind === "group") return <GroupField {...props} />;
  return (
    <TextInput
      label={label}
      value={textOfValue(value)}
      onChange={(text) => onChange(valueOfText(text, schema))}
      autoComplete="off"
      error={error}
      {...(schema.description === undefined ? {} : { hint: schema.description })}
      {...(schema.default === undefined ? {} : { placeholder: textOfValue(schema.default) })}
    />
  );
}

function GroupField({ label, schema, value, onChange, error }: SchemaFieldProps) {
  return (
    <fieldset className="schema-group">
      <legend className="field-label">{label}</legend>
      {schema.description !== undefined && <p className="field-hint">{schema.description}</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
      <Properties schema={schema} value={value} onChange={onChange} />
    </fieldset>
  );
}

/** The fields of a map. If the map has properties that the schema does not contain, the form keeps them. */
function Properties({ schema, value, onChange }: Pick<SchemaFieldProps, "schema" | "value" | "onChange">) {
  return (
    <div className="schema-properties">
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <SchemaField
          key={name}
          label={property.title ?? name}
          schema={property}
          value={isMap(value) ? value[name] : undefined}
          onChange={(changed) => onChange(withProperty(value, name, changed))}
        />
      ))}
    </div>
  );
}

/** A setting whose value is true, false or a map of further settings. */
function SwitchField({ label, schema, value, onChange, error }: SchemaFieldProps) {
  const { type: _, ...group } = schema;
  const state = isMap(value) ? "own" : value;
  return (
    <div className="schema-group">
      <ChoiceField
        label={label}
        schema={schema}
        value={state}
        choices={[false, true, "own"]}
        names={{ false: "off", true: "on, with defaults", own: "on, with own settings" }}
        error={error}
        onChange={(chosen) => onChange(chosen === "own" ? {} : chosen)}
      />
      {isMap(value) && <Properties schema={{ ...group, type: "object" }} value={value} onChange={onChange} />}
    </div>
  );
}
