import { expect, test } from "vitest";
import { parsePackageReference, parseVersionReference } from "../../../src/cli/command/package-reference.js";

test.each([
  ["hello", "hello", undefined],
  ["hello@1.2.0", "hello", "1.2.0"],
  ["@team/app", "@team/app", undefined],
  ["@team/app@1.2.0", "@team/app", "1.2.0"],
  ["@team/app@1.2.0-rc.1+build.5", "@team/app", "1.2.0-rc.1+build.5"],
  ["@team/app@latest", "@team/app", "latest"],
])("runtimectl parses the reference %s as the package %s with the version %s", (text, name, version) => {
  expect(parsePackageReference(text)).toEqual({ name, version });
});

test.each(["", "@", "@team", "@team/", "App", "a b", "../a", "hello@", "hello@1.0", "hello@^1.2.0", "hello@../..", "@team/app@1@2"])(
  "runtimectl rejects the invalid package reference %j",
  (text) => {
    expect(() => parsePackageReference(text)).toThrow(expect.objectContaining({ exitCode: 2 }) as Error);
  },
);

test("a package reference requires a version in commands that change one version", () => {
  expect(() => parseVersionReference("@team/app")).toThrow("the version of @team/app is missing");
});
