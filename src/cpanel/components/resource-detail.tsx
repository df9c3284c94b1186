import type { ReactNode } from "react";
import { ResourceList, type ResourceListProps } from "./resource-list.js";

interface OneOfListProps<Row> extends Pick<ResourceListProps<Row>, "noun" | "permission" | "resource" | "empty"> {
  /** Undefined when it is not in the list. */
  readonly one: Row | undefined;
  readonly children: (one: Row) => ReactNode;
}

/** Renders the details of one row, or the state of its list. */
export function ResourceDetail<Row>({ one, children, ...list }: OneOfListProps<Row>) {
  const rows = one === undefined ? [] : [one];
  return (
    <ResourceList {...list} total={rows.length} rows={rows} onClearFilters={() => undefined}>
      {([found]) => found !== undefined && children(found)}
    </ResourceList>
  );
}
