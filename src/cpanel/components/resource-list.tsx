import type { ReactNode } from "react";
import { DaemonAwayError } from "../live/daemon-away-error.js";
import type { Resource } from "../live/use-resource.js";
import { usePrincipal } from "../session/use-principal.js";
import type { Permission } from "../../shared/permissions.js";
import { Button } from "./button.js";
import { pluralize } from "./pluralize.js";
import { ErrorMessage } from "./error-message.js";
import { LoadingRows } from "./loading-rows.js";
import { EmptyState } from "./empty-state.js";

export interface ResourceListProps<Row> {
  /** Singular noun for one row in messages, such as `key` or `app`. */
  readonly noun: string;
  /** Permission that is required to read the list. */
  readonly permission: Permission;
  readonly resource: Resource<unknown>;
  /** Number of rows before the filters are applied. */
  readonly total: number;
  /** Rows that match the filters. */
  readonly rows: readonly Row[];
  /** Content that replaces the list when `total` is 0. */
  readonly empty: ReactNode;
  readonly onClearFilters: () => void;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Renders a list. If the list has no rows to show, renders the reason: missing permission, loading, error, empty list or no match. */
export function ResourceList<Row>(props: ResourceListProps<Row>) {
  const { noun, permission, resource, total, rows } = props;
  const { permissions, role } = usePrincipal();
  if (!permissions.includes(permission))
    return (
      <EmptyState title={`This key may not see ${noun}s`}>
        It has the role {role}, and seeing {noun}s needs the permission <code>{permission}</code>. Ask the operator for a key that has it.
      </EmptyState>
    );
  if (resource.data === undefined) {
    if (resource.error === undefined || resource.error instanceof DaemonAwayError) return <LoadingRows noun={noun} />;
    return (
      <ErrorMessage title={`The ${noun}s could not be read`} error={resource.error}>
        <Button onPress={() => void resource.refresh()}>Try again</Button>
      </ErrorMessage>
    );
  }
  return (
    <>
      {resource.error !== undefined && !(resource.error instanceof DaemonAwayError) && (
        <ErrorMessage title="This list may be out of date" error={resource.error} />
      )}
      {total === 0 ? props.empty : rows.length === 0 ? <NoMatch {...props} /> : props.children(rows)}
    </>
  );
}

function NoMatch<Row>({ noun, total, onClearFilters }: ResourceListProps<Row>) {
  return (
    <EmptyState title={`No ${noun} matches`} action={<Button onPress={onClearFilters}>Clear filters</Button>}>
      {pluralize(total, noun)} {total === 1 ? "is" : "are"} hidden by the filters.
    </EmptyState>
  );
}
