import { describe, expect, test } from "vitest";
import { maskEnv, metadataFileAt } from "../../../../src/server/packages/files/masked-manifest.js";
import { readManifest } from "../../../../src/shared/manifest-yaml.js";

const secret = "sk_live_1234";

describe("the key `env` of a displayed manifest", () => {
  test.each([
    ["a block", `name: app\nenv:\n  # old: ${secret}\n  KEY: ${secret} # ${secret}\n  PORT: 80\nttl: 5m\n`],
    ["a flow mapping", `name: app\nenv: { KEY: ${secret}, PORT: 80 }\nttl: 5m\n`],
    ["an explicit key", `name: app\n? "env"\n: KEY: |\n    ${secret}\n  PORT: 80\nttl: 5m\n`],
  ])("contains *** instead of values, and no comments (YAML notation: %s)", (_, text) => {
    const masked = maskEnv(text, "manifest.yaml");
    expect(masked).not.toContain(secret);
    expect(readManifest(masked).manifest?.fields).toEqual({ name: "app", env: { KEY: "***", PORT: "***" }, ttl: "5m" });
  });

  test("is masked without a change of the text outside of `env`", () => {
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
    ["uses the env elsewhere", `env: &env { KEY: ${secret} }\nname: *env\n`],
    ["merges the env elsewhere", `env: &env { KEY: ${secret} }\ndeploy: { <<: *env }\n`],
    ["uses the key with its anchor elsewhere", `? &env env\n: { KEY: ${secret} }\nname: *env\n`],
    ["has an env that is defined elsewhere", `deploy: &env { KEY: ${secret} }\nenv: *env\n`],
    ["has a value of env that is defined elsewhere", `name: &key ${secret}\nenv: { KEY: *key }\n`],
    ["has a value of env that is defined in a list", `hosts: [&key ${secret}]\nenv: { KEY: *key, OTHER: x }\n`],
    ["merges values into env", `deploy: &all { KEY: ${secret} }\nenv: { <<: *all }\n`],
    ["merges several mappings into env", `deploy: [&a { KEY: ${secret} }, &b { B: b }]\nenv: { <<: [*a, *b] }\n`],
    ["defines the anchor of env twice", `name: &key other\nhosts: [&key ${secret}]\nenv: { KEY: *key }\n`],
    ["has the env as alias of an alias", `name: &a ${secret}\nhosts: [*a]\nenv: [[{ KEY: *a }]]\n`],
    ["has an alias as key", `name: &name env\n*name : { KEY: ${secret} }\n`],
  ])("cannot be masked, so that the whole file is hidden, when the file %s", (_, text) => {
    expect(maskEnv(text, "manifest.yaml")).toMatch(/^# Only keys that can install packages see this file/);
  });

  test("is masked when the manifest has aliases only outside of `env`", () => {
    const text = `name: &name app\ndescription: *name\nhosts: [&key other.test]\nenv: { KEY: &key ${secret} }\n`;
    const masked = maskEnv(text, "manifest.yaml");
    expect(masked).not.toContain(secret);
    expect(readManifest(masked).manifest?.fields).toEqual({
      name: "app",
      description: "app",
      hosts: ["other.test"],
      env: { KEY: "***" },
    });
  });

  test("is not revealed by an alias if `env` defines the anchor again", () => {
    const text = `name: &key other\nenv: { KEY: &key ${secret} }\ndescription: *key\n`;
    expect(maskEnv(text, "manifest.yaml")).not.toContain(secret);
  });

  test("is masked when it is not a mapping", () => {
    expect(maskEnv(`env: ${secret}\n`, "manifest.yaml")).toBe('env: "***"\n');
    expect(maskEnv(`env: [${secret}]\n`, "manifest.yaml")).toBe('env: "***"\n');
  });

  test("is masked in package.json too", () => {
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
])("metadataFileAt returns for the path %j the metadata file name %s", (below, expected) => {
  expect(metadataFileAt(below)).toBe(expected);
});
