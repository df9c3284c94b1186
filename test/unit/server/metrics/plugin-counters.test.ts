import { describe, expect, test } from "vitest";
import type { DaemonMetrics, PluginMetrics } from "../../../../src/shared/contract/metrics.js";
import { PrometheusExporter } from "../../../../src/server/metrics/prometheus-exporter.js";
import { PluginCounters } from "../../../../src/server/metrics/plugin-counters.js";
import { parseExposition, type Family } from "../../../support/parse-exposition.js";

function valuesOf(counters: PluginCounters, plugin = "p"): PluginMetrics["counters"][number]["values"] {
  return counters.read().find((entry) => entry.plugin === plugin)?.counters[0]?.values ?? [];
}

async function write(plugins: readonly PluginMetrics[]): Promise<Map<string, Family>> {
  const daemon: DaemonMetrics = {
    version: "1.0.0",
    startedAt: 1,
    uptimeSeconds: 1,
    eventLoopLag: { p50Ms: 0, p99Ms: 0, maximumMs: 0 },
  };
  return parseExposition(await new PrometheusExporter().write({ workers: [], daemon, plugins }));
}

describe("a plugin counter", () => {
  test("has one value for equal labels in any order", () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "What was seen.");
    counter.add({ rule: "a", kind: "x" });
    counter.add({ kind: "x", rule: "a" }, 2);
    counter.add({ rule: "b", kind: "x" }, 0.5);

    expect(counters.read()).toEqual([
      {
        plugin: "p",
        counters: [
          {
            name: "seen",
            help: "What was seen.",
            values: [
              { labels: { kind: "x", rule: "a" }, value: 3 },
              { labels: { kind: "x", rule: "b" }, value: 0.5 },
            ],
          },
        ],
      },
    ]);
  });

  test("has one value per set of labels, even if the caller reuses the labels object", () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "");
    const kept = Object.freeze({ rule: "a" });
    for (const labels of [kept, { rule: "a" }, kept, kept]) counter.add(labels);
    const changing = { rule: "b" };
    counter.add(changing);
    changing.rule = "c";
    counter.add(changing);
    for (let index = 0; index < 197; index += 1) counter.add({ rule: `r${index}` });
    const late = Object.freeze({ rule: "late" });
    for (const labels of [late, late, kept]) counter.add(labels);

    const counts = new Map(valuesOf(counters).map(({ labels, value }) => [labels["rule"], value]));
    expect(["a", "b", "c", "other", "late"].map((rule) => counts.get(rule))).toEqual([5, 1, 1, 2, undefined]);
  });

  test("rejects increments that are negative or not finite", () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "");
    for (const count of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => counter.add({}, count)).toThrow(RangeError);
    expect(valuesOf(counters)).toEqual([]);
  });

  test.each(["", "Seen", "1st", "se-en", "seen\n", "é", "a".repeat(101)])("rejects the counter name %j", (name) => {
    const counters = new PluginCounters();
    expect(() => counters.counter("p", name, "")).toThrow(TypeError);
  });

  test.each(["plugin", "__name__", "a-b", "1", "", 'a"b'])("rejects the label name %j", (name) => {
    const counters = new PluginCounters();
    expect(() => counters.counter("p", "seen", "").add({ [name]: "x" })).toThrow(TypeError);
    expect(valuesOf(counters)).toEqual([]);
  });

  test('keeps 200 label combinations, and counts further combinations as "other"', () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "");
    for (let index = 0; index < 1000; index += 1) counter.add({ client: `c${index}` });
    counter.add({ client: "c7" });
    counter.add({ client: "other" });
    counter.add({ ["not a name"]: "other" });

    const values = valuesOf(counters);
    expect(values).toHaveLength(201);
    expect(values[7]).toEqual({ labels: { client: "c7" }, value: 2 });
    expect(values.at(-1)).toEqual({ labels: { client: "other" }, value: 802 });
  });

  test('counts the plugin\'s own label "other" together with combinations above the limit', () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "");
    counter.add({ client: "other" });
    for (let index = 0; index < 300; index += 1) counter.add({ client: `c${index}` });
    counter.add({ client: "other" });

    expect(valuesOf(counters)).toHaveLength(200);
    expect(valuesOf(counters)[0]).toEqual({ labels: { client: "other" }, value: 103 });
  });

  test("truncates label values to 100 characters", () => {
    const counters = new PluginCounters();
    const counter = counters.counter("p", "seen", "");
    counter.add({ path: `${"x".repeat(100)}1` });
    counter.add({ path: `${"x".repeat(100)}2` });
    expect(valuesOf(counters)).toEqual([{ labels: { path: "x".repeat(100) }, value: 2 }]);
  });
});

describe("the counters of a plugin", () => {
  test("continue after a reload, and start at zero after the plugin is deleted", () => {
    const counters = new PluginCounters();
    const before = counters.counter("p", "seen", "old words");
    before.add();
    counters.counter("p", "seen", "new words").add();
    expect(counters.read()[0]?.counters).toEqual([{ name: "seen", help: "new words", values: [{ labels: {}, value: 2 }] }]);

    counters.forget("p");
    before.add();
    expect(counters.read()).toEqual([]);
    counters.counter("p", "seen", "").add();
    expect(valuesOf(counters)).toEqual([{ labels: {}, value: 1 }]);
  });

  test("are limited to 50 per plugin", () => {
    const counters = new PluginCounters();
    for (let index = 0; index < 50; index += 1) counters.counter("p", `c${index}`, "");
    expect(() => counters.counter("p", "one_more", "")).toThrow("a plugin can have at most 50 counters");
    counters.counter("p", "c7", "").add();
    counters.counter("q", "one_more", "").add();
    expect(counters.read().map(({ plugin, counters: { length } }) => [plugin, length])).toEqual([
      ["p", 50],
      ["q", 1],
    ]);
  });
});

describe("the Prometheus exporter", () => {
  test("combines counters with the same name and escapes label values", async () => {
    const counters = new PluginCounters();
    counters.counter("@team/one", "seen", "Two\n lines \\ and a slash").add({ text: 'a "quoted"\nline \\' }, 2);
    counters.counter("two", "seen", "Others").add();
    counters.counter("two", "seen", "Others").add({ text: "" });
    counters.counter("two", "seen", "Others").add({ text: "\uD800" });
    counters.counter("two", "seen", "Others").add({ text: "\uDC00" });
    counters.counter("two", "silent", "Never raised");

    const families = await write(counters.read());
    expect([...families.keys()].filter((name) => name.startsWith("runtimed_plugin_"))).toEqual(["runtimed_plugin_seen_total"]);
    const family = families.get("runtimed_plugin_seen_total");
    expect(family).toMatchObject({ type: "counter" });
    expect(family?.samples).toHaveLength(3);
    expect(family?.samples.map(({ labels, value }) => [labels["plugin"], value])).toEqual([
      ["@team/one", 2],
      ["two", 2],
      ["two", 2],
    ]);
  });

  test("writes no plugin counters when no plugin is loaded", async () => {
    expect([...(await write([])).keys()].filter((name) => name.includes("plugin"))).toEqual([]);
  });
});
