import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseManifest } from "../../../../src/shared/manifest-yaml.js";
import { toggledManifest } from "../../../../src/server/packages/manifest-toggle.js";
import { writeFiles } from "../../../support/pack-archive.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "toggle-"));
});
afterEach(() => rm(folder, { recursive: true }));

test.for([
  [
    "the value alone changes",
    "# ours\nname: app   # the name\nenabled:   true  # for now\n\nenv:\n    A: 'x'   # four spaces\n",
    "# ours\nname: app   # the name\nenabled:   false  # for now\n\nenv:\n    A: 'x'   # four spaces\n",
  ],
  ["a missing key goes first, below the comments", "# ours\n\nname: app\n", "# ours\n\nenabled: false\nname: app\n"],
  ["a document mark stays in front", "---\nname: app\n", "---\nenabled: false\nname: app\n"],
  ["Windows line ends stay", "name: app\r\nenabled: true\r\n", "name: app\r\nenabled: false\r\n"],
  ["Windows line ends are used", "name: app\r\n", "enabled: false\r\nname: app\r\n"],
  ["an empty manifest", "", "enabled: false\n"],
  ["a manifest of comments", "# nothing yet", "# nothing yet\nenabled: false\n"],
  ["one line in braces", "{ name: app, enabled: true }\n", "{ name: app, enabled: false }\n"],
  ["indented keys", "  name: app\n  timeout: 5s\n", "  enabled: false\n  name: app\n  timeout: 5s\n"],
  [
    "a key of that name further down is another one",
    "env:\n  enabled: true\nname: app\n",
    "enabled: false\nenv:\n  enabled: true\nname: app\n",
  ],
  ["a quoted key", '"enabled": true\nname: app\n', '"enabled": false\nname: app\n'],
  ["a text in place of the flag", 'name: app\nenabled: "yes" # hm\n', "name: app\nenabled: false # hm\n"],
  [
    "very long lines stay whole",
    `name: app\ndescription: ${"word ".repeat(60)}end\nenabled: true\n`,
    `name: app\ndescription: ${"word ".repeat(60)}end\nenabled: false\n`,
  ],
])("%s", async ([, before, after]) => {
  await writeFiles(folder, { "manifest.yaml": before as string });
  expect(toggledManifest(folder, false)).toEqual({ filePath: path.join(folder, "manifest.yaml"), text: after });
});

test.for(["name: app\nenabled:\n", "{ name: app }\n", "? name\n: app\n", "&all\nname: app\n"])(
  "%j is written again when it has to be",
  async (before) => {
    await writeFiles(folder, { "manifest.yml": before });
    const { filePath, text } = toggledManifest(folder, false);
    expect(filePath).toBe(path.join(folder, "manifest.yml"));
    expect(parseManifest(text, "manifest.yml").fields).toEqual({ name: "app", enabled: false });
  },
);

test("a package of package.json only gets a manifest.yaml", async () => {
  await writeFiles(folder, { "package.json": '{"name":"app"}' });
  expect(toggledManifest(folder, false)).toEqual({ filePath: path.join(folder, "manifest.yaml"), text: "enabled: false\n" });
});

test("switching back gives the same text as before", async () => {
  const text = "# a\nname: app\n\nenabled: true # b\n";
  await writeFiles(folder, { "manifest.yaml": text });
  await writeFiles(folder, { "manifest.yaml": toggledManifest(folder, false).text });
  expect(toggledManifest(folder, true).text).toBe(text);
});
