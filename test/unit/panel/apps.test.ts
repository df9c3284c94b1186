import { describe, expect, test } from "vitest";
import { activityOf, memoryNote, toApps } from "../../../src/cpanel/pages/apps/app.js";
import { filterApps, namespaceChoices, type AppFilters } from "../../../src/cpanel/pages/apps/app-filters.js";
import { appUrl } from "../../../src/cpanel/pages/apps/app-url.js";
import { effectOf, notesOf } from "../../../src/cpanel/pages/apps/upload-effect.js";
import { pluralize } from "../../../src/cpanel/components/pluralize.js";
import { megabytes, rate } from "../../../src/cpanel/pages/overview/figures.js";
import { refusalOf } from "../../../src/cpanel/upload/refusal-of.js";
import type { PackageInfo } from "../../../src/cpanel/upload/package-info.js";
import type { WorkerMetrics } from "../../../src/shared/contract/metrics.js";
import type { Worker } from "../../../src/shared/contract/workers.js";
import { operator } from "./sample-data.js";

function worker(name: string, about: Partial<Worker> = {}): Worker {
  const usual = { path: `/srv/${name}`, removable: true, source: "uploaded" as const, versions: ["1.0.0"], disabledVersions: [] };
  return { name, ...usual, ...about };
}

const apps = toApps([
  worker("todos", { versions: ["2.0.0", "1.0.0"], disabledVersions: ["2.0.0"] }),
  worker("@team/shop"),
  worker("idle", { disabledVersions: ["1.0.0"] }),
  worker("hello", { source: "built-in", removable: false, versions: ["latest"] }),
  worker("todos", { source: "built-in", removable: false, versions: ["0.1.0"] }),
]);
const all: AppFilters = { search: "", namespace: "", state: "", source: "" };
const namesOf = (filters: Partial<AppFilters>) => filterApps(apps, { ...all, ...filters }).map(({ name }) => name);

describe("toApps", () => {
  test("joins the entries of a worker into one app, and sorts apps by name", () => {
    expect(apps.map(({ name, versions }) => [name, versions.length])).toEqual([
      ["@team/shop", 1],
      ["hello", 1],
      ["idle", 1],
      ["todos", 3],
    ]);
  });

  test("returns the active version, the namespace, and whether an app is built in", () => {
    const [shop, hello, idle, todos] = apps;
    expect(shop).toMatchObject({ namespace: "@team", isBuiltIn: false });
    expect(hello?.isBuiltIn).toBe(true);
    expect(idle?.serving).toBeUndefined();
    expect(todos).toMatchObject({ isBuiltIn: false, namespace: "", serving: { version: "1.0.0" } });
  });
});

describe("filterApps", () => {
  test.each<[Partial<AppFilters>, string[]]>([
    [{}, ["@team/shop", "idle", "todos"]],
    [{ source: "all" }, ["@team/shop", "hello", "idle", "todos"]],
    [{ search: "  TODO " }, ["todos"]],
    [{ namespace: "@team" }, ["@team/shop"]],
    [{ namespace: "-" }, ["idle", "todos"]],
    [{ state: "serving" }, ["@team/shop", "todos"]],
    [{ state: "disabled" }, ["idle"]],
    [{ state: "disabled", namespace: "@team" }, []],
  ])("returns for the filters %j the apps %j", (filters, names) => {
    expect(namesOf(filters)).toEqual(names);
  });

  test('offers each namespace once, and "none" for apps without a namespace', () => {
    expect(namespaceChoices(apps)).toEqual([
      { value: "", label: "all" },
      { value: "-", label: "none" },
      { value: "@team", label: "@team" },
    ]);
  });
});

const row = (perSecond: number, memory: { rssBytes: number; pssBytes?: number }) =>
  ({
    requests: { perSecond, total: 10, failed: 1, failedPerSecond: 0.5 },
    isolates: { running: 1, starting: 1, draining: 0 },
    memory,
    memoryLimitBytes: 100,
    latency: { recent: { p50Ms: null, p99Ms: perSecond === 2 ? 7 : 5 } },
  }) as unknown as WorkerMetrics;

test("activityOf adds the rates, counts and memory of all versions of an app", () => {
  expect(activityOf([row(1.5, { rssBytes: 100 }), row(2, { rssBytes: 100, pssBytes: 40 })])).toEqual({
    requestsPerSecond: 3.5,
    requests: 20,
    failed: 2,
    failureShare: expect.closeTo(1 / 3.5) as number,
    isolates: 4,
    memoryBytes: 140,
    memoryLimitBytes: 400,
    p50Ms: null,
    p99Ms: 7,
  });
});

test.each([
  [undefined, "http://daemon.test/@team/shop/"],
  ["1.0.0", "http://daemon.test/@team/shop@1.0.0/"],
])("appUrl returns the URL of an app with the version %s", (version, url) => {
  expect(appUrl("http://daemon.test", "@team/shop", version)).toBe(url);
});

const facts: PackageInfo = {
  name: "todos",
  version: "3.0.0",
  isEnabled: true,
  entrypoint: "index.js",
  assetsDirectory: undefined,
  pluginEntry: undefined,
  packageJson: undefined,
  metadataFiles: [],
  isPlugin: false,
};

describe("effectOf", () => {
  const [, , idle, todos] = apps;

  test.each([
    ["a new app", facts, undefined, "A new app at /todos/"],
    ["a new version", facts, todos, "Beside 3 installed versions; 1.0.0 is active"],
    ["an existing version", { ...facts, version: "1.0.0" }, todos, "Replaces the installed version 1.0.0; 1.0.0 is active"],
    ["a version that is only built in", { ...facts, version: "0.1.0" }, todos, "Beside 3 installed versions; 1.0.0 is active"],
    [
      "an app without an enabled version",
      { ...facts, version: "1.0.0" },
      idle,
      "Replaces the installed version 1.0.0; no version is enabled",
    ],
  ])("returns the effect of the upload of %s", (_what, uploaded, app, effect) => {
    expect(effectOf(uploaded, app)).toBe(effect);
  });

  test("reports a plugin, a disabled package, or a missing entrypoint or version", () => {
    expect(notesOf(facts)).toEqual([]);
    expect(notesOf({ ...facts, isPlugin: true, entrypoint: undefined })).toEqual([expect.stringContaining("that of a plugin")]);
    const notes = notesOf({ ...facts, entrypoint: undefined, version: "latest", isEnabled: false }).join("\n");
    expect(notes).toMatch(/nothing to serve.*\nThe package has no version.*\n.*enabled: false/);
  });
});

describe("the reason for which the panel prevents an upload", () => {
  const target = { noun: "app", permission: "workers:install" } as const;

  test.each([
    ["has the permission", operator, "@team/shop", undefined],
    ["lacks the permission", { ...operator, permissions: [] }, "shop", "needs the permission workers:install"],
    ["is limited to the namespace", { ...operator, namespaces: ["@team"] }, "@team/shop", undefined],
    [
      "is limited to another namespace",
      { ...operator, namespaces: ["@other"] },
      "@team/shop",
      "in @other only, and @team/shop lies outside",
    ],
  ])("depends on the key, and is undefined if the upload is allowed (the key %s)", (_what, principal, name, reason) => {
    const refusal = refusalOf({ ...facts, name }, target, principal);
    if (reason === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(reason);
  });
});

test.each([
  [0, undefined, "Now, without isolates"],
  [1, 128, "Now; the limit is 128 MB"],
  [3, 384, "Now; the limit of 3 isolates is 384 MB"],
])("memoryNote names the limit of %d isolates once", (isolates, limit, note) => {
  expect(memoryNote({ isolates, memoryLimitBytes: limit === undefined ? undefined : limit * 1024 * 1024 })).toBe(note);
});

test("pluralize, rate and megabytes return the displayed text of a number", () => {
  expect([pluralize(1, "key"), pluralize(2000, "key")]).toEqual(["1 key", "2,000 keys"]);
  expect([rate(0), rate(0.123), rate(9.999), rate(1234.5)]).toEqual(["0", "0.12", "10.00", "1,235"]);
  expect(megabytes(1_572_864)).toBe("1.5 MB");
});
