import { useState } from "react";
import { parse, stringify } from "yaml";
import { TextArea } from "../text-area.js";
import type { SchemaFieldProps } from "./schema-field.js";

const fewestLines = 3;
const mostLines = 12;

/** A field in which the user edits any value as YAML. If the text is invalid, the field shows an error and keeps the last valid value. */
export function YamlField({ label, schema, value, onChange, error }: SchemaFieldProps) {
  const [text, setText] = useState(() => (value === undefined || value === null ? "" : stringify(value)));
  const [problem, setProblem] = useState<string>();
  const change = (typed: string) => {
    setText(typed);
    try {
      const parsed: unknown = parse(typed);
      setProblem(undefined);
      onChange(parsed ?? undefined);
    } catch (thrown) {
      setProblem(`This is not valid YAML: ${thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : ""}`);
    }
  };
  const rows = Math.min(mostLines, Math.max(fewestLines, text.split("\n").length));
  return <TextArea label={label} value={text} onChange={change} rows={rows} error={problem ?? error} hint={schema.description ?? "YAML"} />;
}
