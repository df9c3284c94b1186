import { describe, expect, test } from "vitest";
import { parseManifest } from "../../../../src/shared/manifest-yaml.js";
import { plainManifest } from "../../../../src/server/packages/plain-manifest.js";

const words = [
  "app",
  "1.0.0",
  "1.0.0-beta.1",
  "1.0",
  "1.",
  "1e3",
  "1.0.0e3",
  "0x1f",
  "0o17",
  "017",
  "12",
  "-1",
  "+1",
  "30s",
  "1e5s",
  "64mb",
];
const odd = ["true", "True", "false", "FALSE", "null", "Null", "~", "yes", "no", ".inf", ".nan", "Infinity", "NaN", "a: b", "a #b", "a#b"];
const quoted = [
  '"1.0"',
  "'@team/app'",
  '"a\\n"',
  "'it''s'",
  '"',
  "''",
  '"a" # b',
  "'a",
  '"true"',
  '"a b "',
  "' '",
  '"a',
  '"a: #b\'[]{}"',
  "9999999999",
  "- a",
  "-",
  "--- a",
  "...",
];
const special = [
  "&a",
  "*a",
  "!a",
  "!!str 1",
  "|",
  ">",
  "[a]",
  "{a: 1}",
  "@a",
  "`a",
  "%a",
  "a ",
  "a\t",
  "é",
  "a\r",
  "a\u2028",
  "2020-01-01",
  "1:30",
  "a/b",
  "./a",
];
const shapes = [
  "name: VALUE\n",
  "name: app\nversion: VALUE",
  "name: VALUE\nname: app\n",
  "# VALUE\nname: app\n",
  "name:  VALUE\nenabled: true\n",
];
const more = [
  "deploy: VALUE\nname: app\n",
  "name: app\ndeploy:\n  at: VALUE\n",
  "deploy:\n  at: 1\n  VALUE: 1\nname: app\n",
  "deploy:\n   at: VALUE\nname: app\n",
  "deploy:\n  at: 1\nVALUE\n  by: me\n",
  "deploy:\n  at: 1\n# VALUE\n\n  by: me\nname: app\n",
  "deploy:\n# VALUE\nname: app\n",
  "deploy: 1\ndeploy:\n  at: VALUE\n",
  "VALUE: a\n",
  " name: VALUE\n",
  "name: VALUE\n  more\n",
  "name: VALUE\n---\nname: b\n",
  "\ufeffname: VALUE\n",
  "%YAML 1.1\nname: VALUE\n",
];
const values = [...words, ...odd, ...quoted, ...special];

describe("the parser of plain manifests", () => {
  test.for([...shapes, ...more])("returns the same result as the YAML parser for the manifest template %j", (shape) => {
    for (const value of values) {
      const text = shape.replace("VALUE", () => value);
      const plain = plainManifest(text);
      if (plain) expect(plain, text).toEqual(parseManifest(text, "manifest.yaml").fields);
    }
  });

  test("returns the same result as the YAML parser for common keys", () => {
    const text =
      '# ours\nname: "@team/app"\nversion: 1.4.2\nenabled: false\nentrypoint: dist/index.html\n\ntimeout: 30s\nmemory: 64mb\ninstances: 2\n';
    expect(plainManifest(text)).toEqual(parseManifest(text, "manifest.yaml").fields);
  });

  test("returns the same result as the YAML parser for manifests of `runtimectl deploy`", () => {
    const text = `name: app\nversion: 1.4.2\ndeploy:\n  digest: "${"12".repeat(32)}"\n  at: 1795302000\n  commit: "9f31c0a"\n  dirty: false\n  message: "Fix: it's #7 (again), 100%"\n`;
    expect(plainManifest(text)).toMatchObject({ deploy: { at: 1795302000, dirty: false, message: "Fix: it's #7 (again), 100%" } });
    expect(plainManifest(text)).toEqual(parseManifest(text, "manifest.yaml").fields);
  });

  test("returns undefined for text that only a full YAML parser can parse", () => {
    for (const text of [
      "",
      "# nothing\n",
      "env:\n  A: b\n",
      "name: app\nversion: 1\n",
      "name: app\nname: app\n",
      "constructor: a\n",
      "name: a # b\n",
    ])
      expect(plainManifest(text), text).toBeUndefined();
  });
});
