import type { ConfigField } from "../../../../shared/contract/configuration.js";
import { Badge } from "../../../components/badge.js";
import { Button } from "../../../components/button.js";
import { DataTable, type Column } from "../../../components/data-table.js";
import { valueText } from "../../configuration/value-text.js";
import { schemaOfField } from "./field-schemas.js";

interface FieldTableProps {
  readonly title: string;
  readonly fields: readonly ConfigField[];
  /** Opens the form of a field. Undefined if the configuration is read-only. */
  readonly onEdit?: (field: ConfigField) => void;
}

const columns: readonly Column<ConfigField>[] = [
  {
    id: "name",
    title: "Field",
    cell: ({ name }) => (
      <>
        <code>{name}</code>
        <p className="quiet small">{schemaOfField(name).description}</p>
      </>
    ),
  },
  {
    id: "value",
    title: "Value",
    cell: ({ value, note, source, limit }) => (
      <>
        <code className="config-value">{valueText(value)}</code>
        <p className="quiet small config-narrow">
          {source}
          {limit !== undefined && `, limit ${valueText(limit)}`}
        </p>
        {note !== undefined && <p className="quiet small">{note}</p>}
      </>
    ),
  },
  { id: "source", title: "Source", shownFrom: "wide", cell: ({ source }) => <Source source={source} /> },
  {
    id: "limit",
    title: "Limit of the daemon",
    shownFrom: "wide",
    cell: ({ limit }) =>
      limit === undefined ? <span className="quiet">–</span> : <code className="config-value">{valueText(limit)}</code>,
  },
];

/** Table with fields of a manifest: value, source and limit. */
export function FieldTable({ title, fields, onEdit }: FieldTableProps) {
  const id = `config-${title.toLowerCase().replaceAll(" ", "-")}`;
  const actions: Column<ConfigField> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (field) => (
      <Button kind="bare" aria-label={`Edit ${field.name}`} onPress={() => onEdit?.(field)}>
        Edit
      </Button>
    ),
  };
  return (
    <section className="config-section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="config-fields">
        <DataTable caption={title} columns={onEdit ? [...columns, actions] : columns} rows={fields} keyOf={({ name }) => name} />
      </div>
    </section>
  );
}

function Source({ source }: Pick<ConfigField, "source">) {
  if (source === "default") return <span className="quiet">default</span>;
  return <Badge tone={source === "limit" ? "warn" : "accent"}>{source}</Badge>;
}
