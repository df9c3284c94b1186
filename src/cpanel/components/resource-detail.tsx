import type { ReactNode } from "react";
import { ResourceList, type ResourceListProps } from "./resource-list.js";

interface OneOfListProps<Row> extends Pick<ResourceListProps<Row>, "noun" | "permission" | "resource" | "empty"> {
  /** The row to show. Undefined if the list does not contain the row. */
  readonly one: Row | undefined;
  readonly children: (one: Row) => ReactNode;
}

/** Renders the details of one row of a list. If the row is undefined, renders the state of the list: loading, failed or empty. */
export function ResourceDetail<Row>({ one, children, ...list }: OneOfListProps<Row>) {
  const rows = one === undefined ? [] : [one];
  return (
    <ResourceList {...list} total={rows.length} rows={rows} onClearFilters={() => undefined}>
      {([found]) => found !== undefined && children(found)}
    </ResourceList>
  );
}
