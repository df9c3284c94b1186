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
  /** Singular noun for one row in messages, such as `key` or `plugin`. */
  readonly noun: string;
  /** Caption of the table for screen readers, such as `Keys`. */
  readonly title: string;
  /** Permission that is required to read the list. */
  readonly permission: Permission;
  readonly resource: Resource<unknown>;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string | number;
  /** Label of the search field, such as `Search by name or prefix`. */
  readonly searchLabel: string;
  /** Returns the searchable text of a row. The search ignores upper and lower case. */
  readonly textOf: (row: Row) => string;
  /** All states that a row can have. The state filter offers these states. */
  readonly states: readonly string[];
  readonly stateOf: (row: Row) => string;
  /** Content that replaces the list if there are no rows. */
  readonly empty: ReactNode;
}

/** A table with a search field and a state filter. Both values are stored in the query of the page's URL. */
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
            isStacked
          />
        )}
      </ResourceList>
    </>
  );
}
