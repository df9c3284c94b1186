import type { SettingsVariable } from "../../../shared/contract/settings.js";
import { Badge } from "../../components/badge.js";
import { Button } from "../../components/button.js";
import { DataTable, type Column } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { Toolbar } from "../../components/toolbar.js";
import { useSearch } from "../../router/use-search.js";

const sources = ["environment", "file", "default"];
const choices = [{ value: "", label: "all" }, ...sources.map((value) => ({ value, label: value }))];

const columns: readonly Column<SettingsVariable>[] = [
  {
    id: "name",
    title: "Variable",
    sortBy: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <code>{name}</code>
        <p className="quiet small settings-description">
          <Description text={description} />
        </p>
      </>
    ),
  },
  {
    id: "value",
    title: "Value",
    cell: ({ value, isSecret, source }) =>
      value === null ? (
        <span className="quiet">{isSecret && source !== "default" ? "•••••••• (secret)" : "–"}</span>
      ) : (
        <code>{value === "" ? "(empty)" : value}</code>
      ),
  },
  {
    id: "source",
    title: "Source",
    sortBy: ({ source }) => source,
    cell: ({ source }) => (source === "default" ? <span className="quiet">default</span> : <Badge tone="accent">{source}</Badge>),
  },
];

/** Table with the configuration variables of the daemon. The daemon never sends the values of secrets. */
export function VariableTable({ variables }: { variables: readonly SettingsVariable[] }) {
  const [search, setSearch] = useSearch("search");
  const [source, setSource] = useSearch("source");
  const wanted = search.trim().toLowerCase();
  const rows = variables.filter(
    (variable) =>
      (source === "" || variable.source === source) && `${variable.name} ${variable.description}`.toLowerCase().includes(wanted),
  );
  const clear = () => {
    setSearch("");
    setSource("");
  };
  return (
    <section aria-labelledby="settings-variables">
      <h2 id="settings-variables">Variables</h2>
      <Toolbar label="Filter variables">
        <SearchField label="Search by name or description" value={search} onChange={setSearch} />
        <SelectField label="Source" value={source} onChange={setSource} choices={choices} />
      </Toolbar>
      {rows.length === 0 ? (
        <EmptyState title="No variable matches" action={<Button onPress={clear}>Clear filters</Button>}>
          The filters hide {variables.length} variables.
        </EmptyState>
      ) : (
        <div className="settings-variables">
          <DataTable caption="Variables" columns={columns} rows={rows} keyOf={({ name }) => name} />
        </div>
      )}
    </section>
  );
}

/** Shows a description. Renders each part between backticks as code. */
function Description({ text }: { text: string }) {
  // Every second part was between backticks. The index is a valid React key, because the text and thus the order of its parts never change.
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part));
}
