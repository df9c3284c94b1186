import { useId } from "react";
import type { SchemaFieldProps } from "./schema-field.js";
import { textOfValue } from "./schema-kind.js";
import "../field.css";
import "../select-field.css";

interface ChoiceFieldProps extends SchemaFieldProps {
  /** The possible values. */
  readonly choices: readonly unknown[];
  /** Labels for those values whose label differs from the value. */
  readonly names?: Readonly<Record<string, string>>;
}

/** A drop-down list of values. The first entry removes the value from the settings, so that the default applies. */
export function ChoiceField({ label, schema, value, onChange, error, choices, names = {} }: ChoiceFieldProps) {
  const id = useId();
  const nameOf = (choice: unknown) => names[textOfValue(choice)] ?? textOfValue(choice);
  const unset = schema.default === undefined ? "not set" : `default (${nameOf(schema.default)})`;
  const index = choices.findIndex((choice) => choice === value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="select-field">
        <select
          id={id}
          className="input"
          value={index === -1 ? "" : String(index)}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value === "" ? undefined : choices[Number(event.target.value)])}
        >
          <option value="">{unset}</option>
          {choices.map((choice, position) => (
            <option key={textOfValue(choice)} value={String(position)}>
              {nameOf(choice)}
            </option>
          ))}
        </select>
      </div>
      <span id={`${id}-hint`} className={error === undefined ? "field-hint" : "field-error"}>
        {error ?? schema.description}
      </span>
    </div>
  );
}
