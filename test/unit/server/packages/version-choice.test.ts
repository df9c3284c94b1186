import { describe, expect, test } from "vitest";
import { newestFirst, VersionChoice, type InstalledVersion } from "../../../../src/server/packages/worker-version.js";
import { WorkerManifest } from "../../../../src/shared/worker-manifest.js";

function choiceOf(...versions: string[]): VersionChoice {
  return new VersionChoice(versions.map((text) => installed(text.replace(" off", ""), !text.endsWith(" off"))));
}

function installed(version: string, enabled: boolean): InstalledVersion {
  return {
    name: "app",
    version,
    folder: `/app/${version}`,
    source: "uploaded",
    enabled,
    generation: "1",
    manifest: WorkerManifest.parse({}),
  };
}

describe("the active version for a request without a range", () => {
  test.for([
    [["1.0.0", "latest", "9.0.0"], "latest"],
    [["1.0.0", "latest off", "9.0.0"], "9.0.0"],
    [["1.9.0", "1.10.0", "2.0.0-rc.1"], "1.10.0"],
    [["1.9.0 off", "2.0.0-rc.1", "2.0.0-rc.10", "2.0.0-rc.9"], "2.0.0-rc.10"],
    [["1.0.0+b1", "1.0.0+b2"], "1.0.0+b2"],
    [["1.0.0 off"], undefined],
    [[], undefined],
  ] as const)("among the versions %j is the version %s", ([versions, expected]) => {
    expect(choiceOf(...versions).preferred?.version).toBe(expected);
  });
});

describe("the active version for a request with a range", () => {
  const versions = ["0.9.0", "1.2.0", "1.4.2", "1.4.10", "1.5.0-beta.1", "2.0.0 off", "3.0.0-rc.1", "3.0.0-rc.2", "latest"];
  test.for([
    ["1", "1.4.10"],
    ["1.4", "1.4.10"],
    ["1.4.2", "1.4.2"],
    ["^1.2.0", "1.4.10"],
    ["~1.2", "1.2.0"],
    ["1.5", "1.5.0-beta.1"],
    ["1.5.0-beta.1", "1.5.0-beta.1"],
    ["3", "3.0.0-rc.2"],
    ["3.0.0-rc.1", "3.0.0-rc.1"],
    ["^0.9.0", "0.9.0"],
    ["latest", "latest"],
    ["2", undefined],
    ["2.0.0", undefined],
    ["7", undefined],
    ["*", undefined],
    [">=1", undefined],
    ["1 || 2", undefined],
    ["", undefined],
    ["constructor", undefined],
    ["1".repeat(10_000), undefined],
  ] as const)("for the range @%s is the version %s", ([range, expected]) => {
    const choice = choiceOf(...versions);
    expect(choice.pick(range)?.version).toBe(expected);
    expect(choice.pick(range)?.version).toBe(expected);
  });

  test("for the range @latest is only a version with the name `latest`", () => {
    expect(choiceOf("1.0.0").pick("latest")).toBeUndefined();
  });
});

test("versions are sorted in descending order, after the version `latest`", () => {
  expect(["1.9.0", "1.10.0", "latest", "2.0.0-rc.1", "2.0.0"].toSorted(newestFirst)).toEqual([
    "latest",
    "2.0.0",
    "2.0.0-rc.1",
    "1.10.0",
    "1.9.0",
  ]);
});
