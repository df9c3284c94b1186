import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseManifest } from "../../../../src/shared/manifest-yaml.js";
import { toggledManifest } from "../../../../src/server/packages/manifest-fields.js";
import { writeFiles } from "../../../support/pack-archive.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "toggle-"));
});
afterEach(() => rm(folder, { recursive: true }));

test.for([
  [
    "changes only the value",
    "# ours\nname: app   # the name\nenabled:   true  # for now\n\nenv:\n    A: 'x'   # four spaces\n",
    "# ours\nname: app   # the name\nenabled:   false  # for now\n\nenv:\n    A: 'x'   # four spaces\n",
  ],
  ["inserts a missing key after the first comments", "# ours\n\nname: app\n", "# ours\n\nenabled: false\nname: app\n"],
  ["inserts a missing key after a document mark", "---\nname: app\n", "---\nenabled: false\nname: app\n"],
  ["keeps Windows line ends", "name: app\r\nenabled: true\r\n", "name: app\r\nenabled: false\r\n"],
  ["uses Windows line ends", "name: app\r\n", "enabled: false\r\nname: app\r\n"],
  ["writes to an empty manifest", "", "enabled: false\n"],
  ["writes to a manifest of comments", "# nothing yet", "# nothing yet\nenabled: false\n"],
  ["changes one line in braces", "{ name: app, enabled: true }\n", "{ name: app, enabled: false }\n"],
  ["inserts before indented keys", "  name: app\n  timeout: 5s\n", "  enabled: false\n  name: app\n  timeout: 5s\n"],
  ["ignores a nested key of that name", "env:\n  enabled: true\nname: app\n", "enabled: false\nenv:\n  enabled: true\nname: app\n"],
  ["changes a quoted key", '"enabled": true\nname: app\n', '"enabled": false\nname: app\n'],
  ["replaces a text value", 'name: app\nenabled: "yes" # hm\n', "name: app\nenabled: false # hm\n"],
  [
    "keeps very long lines",
    `name: app\ndescription: ${"word ".repeat(60)}end\nenabled: true\n`,
    `name: app\ndescription: ${"word ".repeat(60)}end\nenabled: false\n`,
  ],
])("toggling a version changes only the key `enabled` in the manifest (case: %s)", async ([, before, after]) => {
  await writeFiles(folder, { "manifest.yaml": before as string });
  expect(toggledManifest(folder, false)).toEqual({ filePath: path.join(folder, "manifest.yaml"), text: after });
});

test.for(["name: app\nenabled:\n", "{ name: app }\n", "? name\n: app\n", "&all\nname: app\n"])(
  "toggling a version rewrites the whole manifest when no edit is possible (%j)",
  async (before) => {
    await writeFiles(folder, { "manifest.yml": before });
    const { filePath, text } = toggledManifest(folder, false);
    expect(filePath).toBe(path.join(folder, "manifest.yml"));
    expect(parseManifest(text, "manifest.yml").fields).toEqual({ name: "app", enabled: false });
  },
);

test("toggling a version creates a manifest.yaml if only a package.json exists", async () => {
  await writeFiles(folder, { "package.json": '{"name":"app"}' });
  expect(toggledManifest(folder, false)).toEqual({ filePath: path.join(folder, "manifest.yaml"), text: "enabled: false\n" });
});

test("toggling a version twice restores the original text of the manifest", async () => {
  const text = "# a\nname: app\n\nenabled: true # b\n";
  await writeFiles(folder, { "manifest.yaml": text });
  await writeFiles(folder, { "manifest.yaml": toggledManifest(folder, false).text });
  expect(toggledManifest(folder, true).text).toBe(text);
});
