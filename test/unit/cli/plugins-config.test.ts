import { expect, onTestFinished, test } from "vitest";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const path = "/api/plugins/%40team%2Flimits/config";
const config = {
  etag: "one",
  editable: true,
  fields: [
    { name: "limit", value: 5, source: "manifest" },
    { name: "paths", value: ["/shop"], source: "default" },
  ],
  env: [],
  secrets: [],
  yaml: null,
  schema: { properties: { limit: { type: "integer" } } },
};

async function run(...words: string[]) {
  const daemon = await startFakeDaemon({ [path]: config });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const { status, stdout, stderr } = await runInProcess(["plugins", "config", ...words, "--url", daemon.url], { cwd: home, env });
  return { status, stdout, stderr, changes: daemon.requests.filter((request) => request.startsWith("PUT")) };
}

test("plugins config prints each setting with its source", async () => {
  const { stdout, changes } = await run("@team/limits");

  expect({ stdout, changes }).toEqual({ stdout: 'limit\t5\tmanifest\t\npaths\t["/shop"]\tdefault\t\n', changes: [] });
});

test("plugins config sends all --set and --unset flags in one request", async () => {
  const { status, stderr, changes } = await run("@team/limits", "--set", "limit=7", "--unset", "paths");

  expect({ status, changes }).toEqual({ status: 0, changes: [`PUT ${path}`] });
  expect(stderr).toContain("@team/limits changed: limit, paths");
});

test.each([
  ["an entry without a value", ["--set", "limit"]],
  ["a value that is not YAML", ["--set", "limit=["]],
  ["a setting that both flags name", ["--set", "limit=7", "--unset", "limit"]],
])("plugins config rejects %s and changes nothing", async (_case, flags) => {
  const { status, changes } = await run("@team/limits", ...flags);

  expect({ status, changes }).toEqual({ status: 2, changes: [] });
});
