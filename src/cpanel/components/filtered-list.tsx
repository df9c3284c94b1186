import { useMemo, type ReactNode } from "react";
import type { Permission } from "../../shared/permissions.js";
import type { Resource } from "../live/use-resource.js";
import { useSearch } from "../router/use-search.js";
import { DataTable, type Column } from "./data-table.js";
import { ResourceList } from "./resource-list.js";
import { SearchField } from "./search-field.js";
import { SelectField } from "./select-field.js";
import { Toolbar } from "./toolbar.js";

interface FilteredListProps<Row> {
  /** Singular noun of a row, such as `key` or `plugin`. */
  readonly noun: string;
  /** Plural with a capital, such as `Keys`. */
  readonly title: string;
  /** Permission that is required to read the list. */
  readonly permission: Permission;
  readonly resource: Resource<unknown>;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string | number;
  /** Label, such as `Search by name or prefix`. */
  readonly searchLabel: string;
  /** Returns the searched text of a row. The search ignores case. */
  readonly textOf: (row: Row) => string;
  /** The possible states of a row. */
  readonly states: readonly string[];
  readonly stateOf: (row: Row) => string;
  /** Shown when `total` is 0. */
  readonly empty: ReactNode;
}

/** A list in its state (loading, failed, empty, rows), with a search and a choice of states that are stored in the address. */
export function FilteredList<Row>(props: FilteredListProps<Row>) {
  const { noun, title, rows, textOf, stateOf, states } = props;
  const [search, setSearch] = useSearch("search");
  const [state, setState] = useSearch("state");
  const shownRows = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    return rows.filter((row) => (state === "" || stateOf(row) === state) && textOf(row).toLowerCase().includes(wanted));
  }, [rows, search, state, textOf, stateOf]);
  const clear = () => {
    setSearch("");
    setState("");
  };
  const choices = [{ value: "", label: "all" }, ...states.map((value) => ({ value, label: value }))];
  return (
    <>
      {rows.length > 0 && (
        <Toolbar label={`Filter ${noun}s`}>
          <SearchField label={props.searchLabel} value={search} onChange={setSearch} />
          <SelectField label="State" value={state} onChange={setState} choices={choices} />
        </Toolbar>
      )}
      <ResourceList {...props} total={rows.length} rows={shownRows} onClearFilters={clear}>
        {(shown) => (
          <DataTable
            caption={title}
            columns={props.columns}
            rows={shown}
            keyOf={props.keyOf}
            sortedBy={{ id: "name", isDescending: false }}
          />
        )}
      </ResourceList>
    </>
  );
}
