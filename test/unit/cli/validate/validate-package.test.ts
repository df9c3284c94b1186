import { describe, expect, test } from "vitest";
import { planPack } from "../../../../src/cli/pack/pack-plan.js";
import { folderSource } from "../../../../src/cli/pack/package-info.js";
import { findPackageKind } from "../../../../src/cli/pack/open-package.js";
import { findLayoutProblems } from "../../../../src/cli/validate/validate-package.js";
import { findManifestProblems } from "../../../../src/cli/validate/manifest-problems.js";
import { describeProblem } from "../../../../src/cli/validate/problem.js";
import { findSyntaxProblems } from "../../../../src/cli/validate/syntax-errors.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";
import { writeTree } from "../../../support/write-tree.js";

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryDirectory();
  await writeTree(folder, files);
  return folder;
}

/** Returns the problems of a folder with these files and an index.js. */
async function problemsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const source = folderSource(await folderOf({ "index.js": "", ...files }));
  const problems = await findManifestProblems(source, await findPackageKind(source));
  return problems.map((problem) => `${problem.severity} ${problem.code} ${describeProblem(problem)}`);
}

test("validate reports all problems of a manifest with line and column", async () => {
  const manifest = "name: Shop\nversion: 1.0\nenabled: maybe\ntimeout: soon\ncron:\n  - schedule: 5\n    endpoint: /x\n";
  const problems = await problemsOf({ "manifest.yaml": manifest });
  expect(problems.map((problem) => problem.split(" ").slice(1, 3).join(" "))).toEqual([
    "INVALID_PACKAGE_NAME manifest.yaml:1:7:",
    "INVALID_PACKAGE_VERSION manifest.yaml:2:10:",
    "INVALID_PACKAGE_METADATA manifest.yaml:3:10:",
    "INVALID_PACKAGE_METADATA manifest.yaml:4:10:",
    "INVALID_PACKAGE_METADATA manifest.yaml:6:15:",
  ]);
  expect(problems[1]).toContain('version: "1.0.0"');
});

test("validate reports invalid YAML with line and column", async () => {
  expect((await problemsOf({ "manifest.yaml": "name: app\nenv: [a\n" }))[0]).toMatch(/manifest\.yaml:2:9: it is not valid YAML: /);
  expect(await problemsOf({ "manifest.yaml": "name: app\nttl: 1m\nname: b\nttl: 2m\n" })).toEqual([
    'error INVALID_PACKAGE_METADATA manifest.yaml:3:1: it has the key "name" twice',
    'error INVALID_PACKAGE_METADATA manifest.yaml:4:1: it has the key "ttl" twice',
  ]);
  expect((await problemsOf({ "manifest.yaml": "name: app\n---\nname: b\n" }))[0]).toMatch(/manifest\.yaml:\d:\d: it holds several/);
  expect(await problemsOf({ "manifest.yaml": "- a\n" })).toEqual([
    "error INVALID_PACKAGE_METADATA manifest.yaml:1:1: it is not a list of keys with values",
  ]);
});

test("validate reports problems of package.json with line and column", async () => {
  expect(await problemsOf({ "package.json": '{\n  "name": "app",\n  "version": "1"\n}\n' })).toEqual([
    expect.stringContaining("error INVALID_PACKAGE_VERSION package.json:3:14: "),
  ]);
  expect((await problemsOf({ "package.json": '{\n  "name": "app"\n  "version": "1.0.0"\n}\n' }))[0]).toMatch(
    /package\.json:3:3: it is not valid JSON/,
  );
});

test("validate warns about variables that look like secrets, but hides the values", async () => {
  const manifest = "name: shop\nenv:\n  LOG_LEVEL: debug\n  STRIPE_KEY: of-a-customer\n";
  const problems = await problemsOf({ "manifest.yaml": manifest });
  expect(problems).toEqual([
    "warning LOOKS_SECRET manifest.yaml:4:3: env.STRIPE_KEY looks like a secret; remove it and run: runtimectl secrets set shop STRIPE_KEY",
  ]);
});

test("validate warns about unknown manifest keys and suggests similar keys", async () => {
  expect(await problemsOf({ "manifest.yaml": "name: app\ntimout: 5s\nquux: 1\n" })).toEqual([
    "warning UNKNOWN_KEY manifest.yaml:2:1: unknown key timout; did you mean timeout?",
    "warning UNKNOWN_KEY manifest.yaml:3:1: unknown key quux",
  ]);
});

test("validate reports a missing entrypoint and a package without any code", async () => {
  expect(await problemsOf({ "manifest.yaml": "name: app\nentrypoint: dist/a.js\n" })).toEqual([
    expect.stringContaining("error ENTRYPOINT_NOT_FOUND manifest.yaml:2:13: the entrypoint dist/a.js does not exist"),
  ]);
  const source = folderSource(await folderOf({ "manifest.yaml": "name: app\n" }));
  expect(await findManifestProblems(source, "worker")).toMatchObject([{ severity: "error", code: "ENTRYPOINT_NOT_FOUND" }]);
  expect(await findManifestProblems(source, "plugin")).toMatchObject([{ severity: "warning", code: "NO_CODE" }]);
});

test("validate reports an assets folder that is empty or is the package folder itself", async () => {
  const files = { "manifest.yaml": "name: app\nassets: dist/client\n", "index.js": "" };
  expect(findLayoutProblems(await planPack(await folderOf(files)))).toMatchObject([{ severity: "error", code: "ASSETS_NOT_FOUND" }]);
  expect(findLayoutProblems(await planPack(await folderOf({ ...files, "dist/client/a.css": "" })))).toEqual([]);
  expect((await problemsOf({ "manifest.yaml": "name: app\nassets: .\n" }))[0]).toContain("must be a folder");
});

test("validate reports that a package name is reserved or missing", async () => {
  expect((await problemsOf({ "manifest.yaml": "name: cpanel\n" }))[0]).toContain("INVALID_PACKAGE_NAME manifest.yaml:1:7:");
  expect((await problemsOf({}))[0]).toContain("MISSING_PACKAGE_NAME");
});

test.each([
  ["a setting", "limit: many\n", ":5:8: limit: must be a whole number"],
  ["a setting below config", "config:\n  limit: many\n", ":6:10: limit: must be a whole number"],
  ["a missing setting", "  required: [limit]\n", ": limit: is missing"],
  ["a default", "  required: [limit]\n", ":4:74: configSchema.properties.limit.default: must be a whole number"],
])("validate rejects %s that does not match configSchema, and names the setting", async (what, text, problem) => {
  const limit = what === "a default" ? "default: many" : "minimum: 1000";
  const schema = `configSchema:\n  properties: { paths: { type: array }, limit: { type: integer, ${limit} } }\n`;
  const files = { "manifest.yaml": `name: app\nbase: /app\n${schema}${text}`, "plugin.js": "" };
  expect(await problemsOf(files)).toEqual([`error INVALID_PACKAGE_METADATA manifest.yaml${problem}`]);
});

test("validate accepts unknown keys in a plugin manifest as the plugin's settings", async () => {
  expect(await problemsOf({ "manifest.yaml": "name: app\nversion: 1.0.0\ntimeout: 5s\ndescription: Ours\n" })).toEqual([]);
  expect(await problemsOf({ "manifest.yaml": "name: app\nbase: /app\ngreeting: Hello\n", "plugin.js": "" })).toEqual([]);
  expect(await problemsOf({ "manifest.yaml": "name: app\nbase: app\n" })).toEqual([expect.stringContaining("manifest.yaml:2:7: base: ")]);
});

describe("findPackageKind", () => {
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["a plugin-only key", { "manifest.yaml": "name: a\nbase: /a\n", "index.js": "" }, "plugin"],
    ["a plugin module", { "manifest.yaml": "name: a\n", "plugin.mjs": "" }, "plugin"],
    ["an index.html beside a plugin.js", { "manifest.yaml": "name: a\n", "index.html": "", "plugin.js": "" }, "worker"],
    ["an explicit entrypoint", { "manifest.yaml": "name: a\nentrypoint: plugin.js\n", "plugin.js": "" }, "worker"],
    ["the name of a built-in plugin", { "manifest.yaml": "name: plugin-gateway\nrateLimits: []\n" }, "plugin"],
    ["a misspelt key without code", { "manifest.yaml": "name: a\nentrypont: src/a.js\n" }, "worker"],
    ["the dependencies of a package.json", { "package.json": '{"name":"a","dependencies":{}}', "index.js": "" }, "worker"],
  ])("detects whether a package is a worker or a plugin (criterion: %s)", async (_, files, kind) => {
    expect(await findPackageKind(folderSource(await folderOf(files)))).toBe(kind);
  });
});

test("validate reports paths that a daemon rejects, and warns about secret files", async () => {
  const folder = await folderOf({
    "manifest.yaml": "name: a\n",
    "index.js": "",
    "con.txt": "",
    "lib/Ä.js": "",
    "lib/ä.js": "",
    "tls/server.key": "",
  });
  const problems = findLayoutProblems(await planPack(folder));
  expect(problems.map(({ severity, file, code }) => [severity, file, code])).toEqual([
    ["error", "con.txt", "INVALID_ARCHIVE"],
    ["error", "lib/ä.js", "INVALID_ARCHIVE"],
    ["warning", "tls/server.key", "LOOKS_SECRET"],
  ]);
});

const problemsIn = async (files: Readonly<Record<string, string>>) =>
  await findSyntaxProblems(await planPack(await folderOf({ "manifest.yaml": "name: app\n", ...files })));

describe("code with a syntax error", () => {
  test.each(["index.js", "index.ts"])("causes an error with line, column and source line in the entrypoint %s", async (file) => {
    expect(await problemsIn({ [file]: "export default { fetch( { return 1 }\n" })).toEqual([
      {
        severity: "error",
        code: "WORKER_START_FAILED",
        message: 'Expected "}" but found "1"',
        file,
        line: 1,
        column: 34,
        excerpt: ["  1 | export default { fetch( { return 1 }", `    | ${" ".repeat(33)}^`],
      },
    ]);
  });

  test("causes a warning in other files, but no warning in node_modules or static sites", async () => {
    const entry = { "index.js": "export default { fetch: () => new Response() };\n" };
    expect(await problemsIn({ ...entry, "other.js": "let a = ;\n", "node_modules/a/index.js": "let a = ;\n" })).toMatchObject([
      { severity: "warning", file: "other.js", line: 1 },
    ]);
    expect(await problemsIn({ "index.html": "<script src=app.js></script>", "app.js": "let a = ;\n" })).toEqual([]);
  });
});
