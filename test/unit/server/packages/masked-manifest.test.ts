import { describe, expect, test } from "vitest";
import { maskEnv, metadataFileAt } from "../../../../src/server/packages/files/masked-manifest.js";
import { readManifest } from "../../../../src/shared/manifest-yaml.js";

const secret = "sk_live_1234";

describe("the env of a manifest", () => {
  test.each([
    ["a block", `name: app\nenv:\n  # old: ${secret}\n  KEY: ${secret} # ${secret}\n  PORT: 80\nttl: 5m\n`],
    ["a flow mapping", `name: app\nenv: { KEY: ${secret}, PORT: 80 }\nttl: 5m\n`],
    ["an explicit key", `name: app\n? "env"\n: KEY: |\n    ${secret}\n  PORT: 80\nttl: 5m\n`],
  ])("has *** for values in %s, without its comments", (_, text) => {
    const masked = maskEnv(text, "manifest.yaml");
    expect(masked).not.toContain(secret);
    expect(readManifest(masked).manifest?.fields).toEqual({ name: "app", env: { KEY: "***", PORT: "***" }, ttl: "5m" });
  });

  test("keeps comments elsewhere, and a text without env unchanged", () => {
    expect(maskEnv(`# note\nname: app # shop\nenv: { KEY: ${secret} }\n`, "manifest.yml")).toBe(
      '# note\nname: app # shop\nenv:\n  KEY: "***"\n',
    );
    for (const text of ["", "name:   app # env\n", "# env: 1\n\nname: env\n"]) expect(maskEnv(text, "manifest.yaml")).toBe(text);
  });

  test.each([
    ["is not YAML", `name: [\nenv: { KEY: ${secret} }\n`],
    ["repeats the key", `env: { KEY: ${secret} }\nname: app\nenv: {}\n`],
    ["has two documents", `name: app\n---\nenv: { KEY: ${secret} }\n`],
    ["uses a value of env elsewhere", `env: { KEY: &key ${secret} }\nname: *key\n`],
    ["has an alias as key", `name: &name env\n*name : { KEY: ${secret} }\n`],
  ])("hides the whole file when it %s", (_, text) => {
    expect(maskEnv(text, "manifest.yaml")).toMatch(/^# Only keys that can install packages see this file/);
  });

  test("is masked when it is no mapping", () => {
    expect(maskEnv(`env: ${secret}\n`, "manifest.yaml")).toBe('env: "***"\n');
    expect(maskEnv(`env: [${secret}]\n`, "manifest.yaml")).toBe('env: "***"\n');
  });

  test("is masked in package.json", () => {
    const text = `{ "name": "app", "e\\u006ev": { "KEY": "${secret}" }, "version": "1.0.0" }`;
    expect(JSON.parse(maskEnv(text, "package.json"))).toEqual({ name: "app", env: { KEY: "***" }, version: "1.0.0" });
    expect(maskEnv('{"name":"app"}', "package.json")).toBe('{"name":"app"}');
    expect(maskEnv(`{"env":{"KEY":"${secret}"}`, "package.json")).not.toContain(secret);
  });
});

test.each([
  [["shop", "manifest.yaml"], "manifest.yaml"],
  [["@team", "shop", "1.0.0", "manifest.yml"], "manifest.yml"],
  [["shop", "1.0.0", "package.json"], "package.json"],
  [["@team", "shop", "1.0.0", "node_modules", "package.json"], undefined],
  [["shop", "1.0.0", "index.js"], undefined],
  [[], undefined],
])("the metadata file at %j is %s", (below, expected) => {
  expect(metadataFileAt(below)).toBe(expected);
});
