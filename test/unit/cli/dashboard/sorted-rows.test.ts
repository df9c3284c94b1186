import { expect, test } from "vitest";
import { sortedRows, type WorkerOrder } from "../../../../src/cli/dashboard/workers/sorted-rows.js";
import type { WorkerRow } from "../../../../src/cli/dashboard/workers/worker-rows.js";

function row(name: string, version: string, state: string, load: { readonly rate: number; readonly bytes: number } | undefined): WorkerRow {
  const metrics = load && { requests: { perSecond: load.rate }, memory: { pssBytes: load.bytes } };
  return { name, version, state, metrics } as unknown as WorkerRow;
}

const rows = [
  row("zoo", "1.0.0", "failing", { rate: 1, bytes: 30 }),
  row("app", "2.0.0", "idle", { rate: 5, bytes: 10 }),
  row("app", "1.0.0", "enabled", undefined),
  row("shop", "2.0.0", "degraded", { rate: 9, bytes: 20 }),
  row("shop", "1.0.0", "disabled", undefined),
];

test.each<[WorkerOrder, string[]]>([
  ["severity", ["zoo 1.0.0", "shop 2.0.0", "shop 1.0.0", "app 2.0.0", "app 1.0.0"]],
  ["name", ["app 2.0.0", "app 1.0.0", "shop 2.0.0", "shop 1.0.0", "zoo 1.0.0"]],
  ["rate", ["shop 2.0.0", "app 2.0.0", "zoo 1.0.0", "app 1.0.0", "shop 1.0.0"]],
  ["memory", ["zoo 1.0.0", "shop 2.0.0", "app 2.0.0", "app 1.0.0", "shop 1.0.0"]],
])("the dashboard sorts the versions of workers by %s", (order, expected) => {
  expect(sortedRows(rows, order).map(({ name, version }) => `${name} ${version}`)).toEqual(expected);
});
