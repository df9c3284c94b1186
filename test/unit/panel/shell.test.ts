import { describe, expect, test } from "vitest";
import { matchCommands, type Command } from "../../../src/cpanel/commands/command.js";
import { chartData } from "../../../src/cpanel/components/chart-data.js";
import { labelPlaces, shortened } from "../../../src/cpanel/components/chart-markers.js";
import { linePath } from "../../../src/cpanel/components/sparkline.js";
import { crumbsOf } from "../../../src/cpanel/layout/breadcrumb.js";
import { Rail } from "../../../src/cpanel/layout/rail.js";
import { sectionsFor } from "../../../src/cpanel/pages/sections.js";
import { rolePermissions } from "../../../src/shared/permissions.js";

const titles = (permissions: Parameters<typeof sectionsFor>[0]) => sectionsFor(permissions).map(({ title }) => title);

test("the panel offers only the sections that a key is allowed to use", () => {
  expect(titles(rolePermissions.admin)).toEqual([
    "Overview",
    "Apps",
    "Logs",
    "Activity",
    "Plugins",
    "Hosts",
    "Keys",
    "Instances",
    "Settings",
  ]);
  expect(titles(rolePermissions.editor)).toEqual(["Overview", "Apps", "Logs", "Activity", "Plugins", "Hosts", "Instances", "Settings"]);
  expect(titles(["audit:read"])).toEqual(["Overview", "Activity", "Settings"]);
  expect(titles([])).toEqual(["Overview", "Settings"]);
});

test.each([
  [["overview"], ["Overview overview"]],
  [
    ["apps", "@team", "shop", "logs"],
    ["Apps apps", "@team/shop apps/@team/shop", "Logs apps/@team/shop/logs"],
  ],
  [
    ["keys", "new"],
    ["Keys keys", "new keys/new"],
  ],
  [["nowhere", "x"], ["Page not found nowhere/x"]],
])("the panel divides the path %j into the parts of the breadcrumb", (segments, expected) => {
  expect(crumbsOf(segments).map(({ title, to }) => `${title} ${to}`)).toEqual(expected);
});

test("the panel stores in the browser that the navigation is collapsed", () => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  };
  new Rail(storage).toggle();
  expect(new Rail(storage).isCollapsed.get()).toBe(true);
  new Rail(storage).toggle();
  expect([new Rail(storage).isCollapsed.get(), stored.size]).toEqual([false, 0]);
});

const command = (title: string, more: Partial<Command> = {}): Command => ({
  id: title,
  group: "Apps",
  icon: "apps",
  title,
  run: () => undefined,
  ...more,
});

describe("the command menu", () => {
  const commands = [
    command("Workshop"),
    command("my-shop"),
    command("shop: logs", { isDetail: true }),
    command("shop"),
    command("Overview"),
  ];
  const found = (typed: string) => matchCommands(commands, typed).map(({ title }) => title);

  test("offers all commands except detail commands while no text is typed", () => {
    expect(found(" ")).toEqual(["Workshop", "my-shop", "shop", "Overview"]);
  });

  test("lists the best match first", () => {
    expect(found("SHOP")).toEqual(["shop", "shop: logs", "my-shop", "Workshop"]);
    expect(found("shop log")).toEqual(["shop: logs"]);
    expect(found("nothing")).toEqual([]);
  });

  test("shows at most 50 commands", () => {
    expect(
      matchCommands(
        Array.from({ length: 2000 }, (_, index) => command(`app ${index}`)),
        "app",
      ),
    ).toHaveLength(50);
  });
});

describe("charts", () => {
  test("align a sparkline with the right edge while some of its values are missing", () => {
    expect(linePath([1], { capacity: 2, highest: 1 })).toBe("");
    expect(linePath([0, 2, 4], { capacity: 3, highest: 4 })).toBe("M0.0 23.0L60.0 12.5L120.0 2.0");
    expect(linePath([0, 0], { capacity: 3, highest: 0 })).toBe("M60.0 23.0L120.0 23.0");
  });

  test("add up the series of a stacked chart, and keep gaps", () => {
    const series = [
      { label: "2xx", color: "--chart-2xx", values: [1, 2, null] },
      { label: "5xx", color: "--chart-5xx", values: [3, 0, null] },
    ] as const;
    expect(chartData([10, 20, 30], series, true)).toEqual([
      [10, 20, 30],
      [1, 2, null],
      [4, 2, null],
    ]);
    expect(chartData([10, 20, 30], series, false)[2]).toEqual([3, 0, null]);
  });

  test.each([
    ["only failures", [0.9, 0.9], [0, 0], [null, null]],
    ["one success among failures", [1, 1, 1, 1, 1], [0, 0, 2, 0, 0], [null, 1, 3, 1, null]],
    ["only successes", [0, 0], [2, 2], [2, 2]],
    ["no requests", [0, 0], [0, 0], [0, 0]],
  ])("never draw the line of a series over the line of another series (case: %s)", (_what, failed, succeeded, drawn) => {
    const series = [
      { label: "Failed", color: "--chart-5xx", values: failed },
      { label: "Succeeded", color: "--chart-2xx", values: succeeded },
    ] as const;
    const at = [...failed.keys()];
    expect(chartData(at, series, true)).toEqual([at, failed, drawn]);
  });

  test("keep the labels of markers inside of the plot, and place the first ones first", () => {
    const plot = { left: 50, right: 200 };
    const places = (...labels: [x: number, width: number][]) =>
      labelPlaces(
        labels.map(([x, width]) => ({ x, width })),
        plot,
      );
    expect(places([60, 140])).toEqual([{ row: 0, left: 60 }]);
    expect(places([190, 100])).toEqual([{ row: 0, left: 90 }]);
    expect(places([120, 100])).toEqual([{ row: 0, left: 50 }]);
    expect(places([60, 20], [70, 20], [75, 20], [78, 20], [90, 20]).map((place) => place?.row)).toEqual([0, 1, 2, undefined, 0]);
  });

  test("shorten a label that is wider than the plot", () => {
    const shortenedTexts = [100, 60, 0].map((room) => shortened("shop 1.4.2", room, (text) => text.length * 10));
    expect(shortenedTexts).toEqual(["shop 1.4.2", "…1.4.2", "…"]);
  });
});
