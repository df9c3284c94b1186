import { describe, expect, test } from "vitest";
import { chooseVersion } from "../../../src/cli/deploy/choose-version.js";

const installed = (...versions: string[]) => versions.map((text) => ({ version: text.replace("!", ""), enabled: !text.startsWith("!") }));
const without = { version: "latest", packageJson: undefined };
const packageJson = (version: string) => ({ version, packageJson: { version } });

describe("chooseVersion", () => {
  test.each([
    { title: "0.1.0 for the first deployment", facts: without, versions: [], expected: "0.1.0" },
    { title: "one patch above the highest version", facts: without, versions: ["1.9.0", "1.10.2", "!1.2.0"], expected: "1.10.3" },
    { title: "one patch above a disabled version", facts: without, versions: ["1.0.0", "!2.0.0"], expected: "2.0.1" },
    { title: "the next prerelease of a prerelease", facts: without, versions: ["1.0.0-beta.2"], expected: "1.0.0-beta.3" },
    { title: "0.1.0 beside a disabled version `latest`", facts: without, versions: ["!latest"], expected: "0.1.0" },
    { title: "the version of package.json for the first deployment", facts: packageJson("2.3.4"), versions: [], expected: "2.3.4" },
    { title: "the version of package.json above all versions", facts: packageJson("2.0.0"), versions: ["1.9.9"], expected: "2.0.0" },
    { title: "one patch above an equal version of package.json", facts: packageJson("2.0.0"), versions: ["2.0.0"], expected: "2.0.1" },
    { title: "0.1.0 for the version 0.0.0 in package.json", facts: packageJson("0.0.0"), versions: [], expected: "0.1.0" },
    { title: "0.1.0 for an invalid version in package.json", facts: packageJson("one"), versions: [], expected: "0.1.0" },
  ])("assigns $title", ({ facts, versions, expected }) => {
    expect(chooseVersion(facts, installed(...versions), false)).toEqual({ version: expected, origin: "assigned" });
  });

  test("returns the version that the manifest declares", () => {
    const facts = { version: "1.0.0", hasDeclaredVersion: true, packageJson: undefined };
    expect(chooseVersion(facts, installed("latest", "3.0.0"), true)).toEqual({ version: "1.0.0", origin: "declared" });
  });

  test("returns `latest` if `latest` is active, or a new version if isBump is set", () => {
    expect(chooseVersion(without, installed("latest", "1.0.0"), false)).toEqual({ version: "latest", origin: "latest" });
    expect(chooseVersion(without, installed("latest", "1.0.0"), true)).toEqual({ version: "1.0.1", origin: "assigned" });
  });
});
