import { expect, test } from "vitest";
import { mergeMetrics } from "../../../../src/server/metrics/merge-metrics.js";
import type { PluginMetrics, Totals, WorkerMetrics } from "../../../../src/shared/contract/metrics.js";
import { counts } from "../../../support/fake-daemon.js";

const noLatency = { count: 0, p50Ms: null, p90Ms: null, p99Ms: null, maximumMs: null };

function worker(name: string, version: string | null, total: number, changes: Partial<WorkerMetrics> = {}): WorkerMetrics {
  const requests = { ...counts.requests, total, perSecond: total / 60, byStatus: { ...counts.requests.byStatus, "2xx": total } };
  const latency = { recent: { ...noLatency, windowSeconds: 60 }, sinceStart: noLatency };
  return { ...counts, name, version, kind: "module", requests, latency, ...changes };
}

function totals(total: number, errors: Totals["errors"] = counts.errors): Totals {
  return { ...counts, requests: { ...counts.requests, total }, errors };
}

/** Returns the metrics of a plugin with one counter. */
function counter(values: PluginMetrics["counters"][number]["values"]): PluginMetrics[] {
  return [{ plugin: "gateway", counters: [{ name: "hits", help: "Hits.", values }] }];
}

function daemon(plugins?: PluginMetrics[]) {
  return { totals: totals(0), workers: [], ...(plugins && { plugins }) };
}

test("merged metrics sum the counts per version, and are sorted by name and version", () => {
  const [one, other] = [worker("shop", "1.0.0", 6), worker("shop", "1.0.0", 60)];

  const { workers, totals: sums } = mergeMetrics([
    { totals: totals(8, { total: 1, byCode: { A: 1 } }), workers: [worker("blog", "2.0.0", 2), one] },
    { totals: totals(64, { total: 3, byCode: { A: 1, B: 2 } }), workers: [other, worker("shop", null, 3), worker("blog", "1.0.0", 1)] },
  ]);

  expect(workers.map(({ name, version, requests }) => [name, version, requests.total])).toEqual([
    ["blog", "1.0.0", 1],
    ["blog", "2.0.0", 2],
    ["shop", null, 3],
    ["shop", "1.0.0", 66],
  ]);
  expect(workers[3]?.requests).toMatchObject({ perSecond: 1.1, byStatus: { "2xx": 66 } });
  expect(sums).toMatchObject({ requests: { total: 72 }, errors: { total: 4, byCode: { A: 2, B: 2 } } });
});

test("merged metrics have the highest percentile, and no PSS memory if one is unknown", () => {
  const fast = { count: 98, p50Ms: 2, p90Ms: 3, p99Ms: 5, maximumMs: 90 };
  const slow = { count: 2, p50Ms: 20, p90Ms: 30, p99Ms: 50, maximumMs: 60 };
  const rows = [fast, slow, noLatency].map((latency, index) =>
    worker("shop", "1.0.0", 1, {
      latency: { recent: { ...latency, windowSeconds: 50 + index }, sinceStart: latency },
      memory: { rssBytes: 10, pssBytes: index === 0 ? null : 5 },
      kind: index === 0 ? null : "module",
      memoryLimitBytes: index === 0 ? null : 100 * index,
    }),
  );

  const { workers } = mergeMetrics(rows.map((row) => ({ totals: totals(1), workers: [row] })));

  const highest = { count: 100, p50Ms: 20, p90Ms: 30, p99Ms: 50, maximumMs: 90 };
  expect(workers).toMatchObject([
    {
      latency: { recent: { ...highest, windowSeconds: 52 }, sinceStart: highest },
      memory: { rssBytes: 30, pssBytes: null },
      kind: "module",
      memoryLimitBytes: 200,
    },
  ]);
});

test("merged metrics add up plugin counters whose labels are equal in any order", () => {
  const merged = mergeMetrics([
    daemon(counter([{ labels: { route: "/a", kind: "x" }, value: 1 }])),
    daemon(),
    daemon(
      counter([
        { labels: { kind: "x", route: "/a" }, value: 2 },
        { labels: { kind: "x", route: "/b" }, value: 4 },
      ]),
    ),
  ]);

  expect(merged.plugins).toEqual(
    counter([
      { labels: { route: "/a", kind: "x" }, value: 3 },
      { labels: { kind: "x", route: "/b" }, value: 4 },
    ]),
  );
  expect(mergeMetrics([daemon(), daemon()])).not.toHaveProperty("plugins");
});
