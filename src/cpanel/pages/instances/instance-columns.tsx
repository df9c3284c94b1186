import type { Instance } from "../../../shared/contract/instances.js";
import { instanceLabel } from "../../../shared/instance-list.js";
import { Badge } from "../../components/badge.js";
import type { Column } from "../../components/data-table.js";
import { RowActions } from "../../components/row-actions.js";
import { instanceMenu } from "./instance-menu.js";
import { InstanceState } from "./instance-state.js";
import type { InstanceActions } from "./use-instance-actions.js";
import "./instances.css";

interface InstanceColumnsOptions {
  readonly all: readonly Instance[];
  readonly actions: InstanceActions;
  readonly mayDrain: boolean;
}

export function instanceColumns({ all, actions, mayDrain }: InstanceColumnsOptions): readonly Column<Instance>[] {
  const columns: readonly Column<Instance>[] = [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name }) => name.toLowerCase(),
      cell: (instance) => (
        <>
          {instance.name} {instance.isSelf && <Badge tone="accent">this daemon</Badge>}
          {instanceLabel(instance, all) !== instance.name && <code className="instance-detail">{instance.id}</code>}
          {instance.address !== null && <span className="instance-detail">{instance.address}</span>}
        </>
      ),
    },
    {
      id: "state",
      title: "State",
      sortBy: ({ state }) => state,
      cell: ({ state, problem }) => (
        <>
          <InstanceState state={state} />
          {problem !== undefined && <span className="instance-detail">{problem}</span>}
        </>
      ),
    },
    { id: "version", title: "Version", sortBy: ({ version }) => version, cell: ({ version }) => version },
    {
      id: "lag",
      title: "Lag",
      shownFrom: "widest",
      isNumeric: true,
      sortBy: ({ lagSeconds }) => lagSeconds ?? -1,
      cell: ({ lagSeconds }) => (lagSeconds === null ? "–" : `${lagSeconds.toFixed(1)} s`),
    },
    {
      id: "isolates",
      title: "Isolates",
      shownFrom: "widest",
      isNumeric: true,
      sortBy: ({ isolates }) => isolates ?? -1,
      cell: ({ isolates }) => (isolates === null ? "–" : isolates.toLocaleString("en-GB")),
    },
  ];
  if (!mayDrain) return columns;
  const menu: Column<Instance> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (instance) => <RowActions name={instanceLabel(instance, all)} actions={instanceMenu(instance, actions)} />,
  };
  return [...columns, menu];
}
