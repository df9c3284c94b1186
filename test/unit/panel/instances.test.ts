import { describe, expect, test } from "vitest";
import { instanceLabel, isLastReady, missingInstances, readyCount, runningVersions } from "../../../src/shared/instance-list.js";
import type { Instance } from "../../../src/shared/contract/instances.js";

function instance(name: string, state: Instance["state"], { id = `id-${name}`, version = "1.0.0" } = {}) {
  return { name, id, state, version };
}

describe("the missing instances", () => {
  const all = [
    instance("eu-1", "ready"),
    instance("eu-2", "unreachable"),
    instance("eu-3", "gone"),
    instance("eu-4", "draining"),
    instance("eu-1", "gone", { id: "id-replaced" }),
  ];

  test("are all `unreachable` and `gone` instances, except replaced instances", () => {
    expect(missingInstances(all, "").map(({ id }) => id)).toEqual(["id-eu-2", "id-eu-3"]);
  });

  test.each([
    ["eu-2", ["id-eu-2"]],
    ["id-eu-3", ["id-eu-3"]],
    ["eu-1", []],
  ])("with the filter %s have the IDs %j", (only, ids) => {
    expect(missingInstances(all, only).map(({ id }) => id)).toEqual(ids);
  });
});

test("an instance is labeled by its ID if it is replaced or if others have its name", () => {
  const replaced = instance("eu-1", "gone", { id: "id-replaced" });
  const all = [instance("eu-1", "ready"), replaced, instance("eu-2", "ready"), instance("eu-2", "unreachable", { id: "id-twin" })];
  expect(all.map((one) => instanceLabel(one, all))).toEqual(["eu-1", "id-replaced", "id-eu-2", "id-twin"]);
});

describe("the instances during a rolling upgrade", () => {
  const all = [
    instance("eu-1", "ready", { version: "1.1.0" }),
    instance("eu-2", "draining"),
    instance("eu-3", "gone", { version: "0.9.0" }),
  ];

  test("are counted if `ready`, and have their versions listed unless they are `gone`", () => {
    expect({ ready: readyCount(all), versions: runningVersions(all) }).toEqual({ ready: 1, versions: ["1.0.0", "1.1.0"] });
  });

  test.each([
    ["id-eu-1", true],
    ["id-eu-2", false],
  ])("include %s as the last ready instance: %j", (id, isLast) => {
    expect(isLastReady({ id }, all)).toBe(isLast);
  });
});
