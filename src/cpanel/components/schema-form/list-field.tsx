import { useRef, useState } from "react";
import type { ConfigSchema } from "../../../shared/config-schema.js";
import { Button } from "../button.js";
import { Icon } from "../icon.js";
import { kindOf, newItem } from "./schema-kind.js";
import { SchemaField, type SchemaFieldProps } from "./schema-field.js";

interface ListFieldProps extends SchemaFieldProps {
  /** Schema of one item. */
  readonly items: ConfigSchema;
}

/**
 * A list whose items can be changed, added and removed. If the user removes the last item, the field itself is removed, so that the default
 * applies.
 */
export function ListField({ label, schema, value, onChange, error, items }: ListFieldProps) {
  const values: readonly unknown[] = Array.isArray(value) ? value : [];
  const keys = useItemKeys(values.length);
  const isGroup = kindOf(items) === "group";
  const change = (changed: readonly unknown[]) => onChange(changed.length === 0 ? undefined : changed);
  return (
    <fieldset className="schema-group">
      <legend className="field-label">{label}</legend>
      {schema.description !== undefined && <p className="field-hint">{schema.description}</p>}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <ul className="schema-list">
        {values.map((item, index) => (
          <li key={keys.of(index)} className={isGroup ? "schema-item schema-item-group" : "schema-item"}>
            <SchemaField
              label={`${label} ${index + 1}`}
              schema={items}
              value={item}
              onChange={(changed) => change(values.with(index, changed ?? newItem(items)))}
            />
            <Button
              kind="bare"
              aria-label={`Remove ${label} ${index + 1}`}
              onPress={() => {
                keys.remove(index);
                change(values.toSpliced(index, 1));
              }}
            >
              <Icon name="delete" /> {isGroup && "Remove"}
            </Button>
          </li>
        ))}
      </ul>
      <Button aria-label={`Add to ${label}`} onPress={() => change([...values, newItem(items)])}>
        <Icon name="add" /> Add
      </Button>
    </fieldset>
  );
}

/** Provides a stable React key for each item. Items have no names, and the user can remove an item from the middle. */
function useItemKeys(count: number): { readonly of: (index: number) => number; readonly remove: (index: number) => void } {
  const [keys, setKeys] = useState<readonly number[]>([]);
  const next = useRef(0);
  const shown = keys.slice(0, count);
  while (shown.length < count) shown.push((next.current += 1));
  if (shown.length !== keys.length) setKeys(shown);
  return { of: (index) => shown[index] ?? index, remove: (index) => setKeys(shown.toSpliced(index, 1)) };
}
