import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** URL of the daemon in the documentation. */
const documentedUrl = "http://127.0.0.1:8000";

interface Example {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly calls: readonly { readonly command: string; readonly expected: string | undefined }[];
}

let daemon: TestDaemon;
let client: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  client = connect(daemon.url, daemon.rootKey);
  const hello = await readFile(path.join(root, "samples/hello/index.js"));
  const manifest = await readFile(path.join(root, "samples/hello/manifest.yaml"));
  await client.workers.upload({ file: uploadOf("hello.tgz", await packFiles({ "index.js": hello, "manifest.yaml": manifest })) });
});

afterAll(() => daemon.dispose());

describe("an example of docs/reference/plugin-api.md", async () => {
  const examples = examplesOf(await readFile(path.join(root, "docs/reference/plugin-api.md"), "utf8"));
  expect(examples.length).toBeGreaterThanOrEqual(12);

  test.each(examples.map((example) => [example.title, example] as const))(
    "responds as documented (example: %s)",
    async (_title, { files, calls }) => {
      const { data } = await client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles(files)) });
      const { name } = data.plugin;
      expect((await client.plugins.list()).find((plugin) => plugin.name === name)).toMatchObject({ status: "loaded" });
      for (const { command, expected } of calls) {
        const answer = await call(command);
        if (expected !== undefined) expect(answer).toContain(expected);
      }
    },
  );
});

test("the plugin in samples/plugin responds as documented after its upload", async () => {
  const run = await runRuntimectl(daemon, ["plugins", "upload", path.join(root, "samples/plugin")]);
  expect(run.status, run.stderr).toBe(0);
  expect(await call(`curl ${documentedUrl}/sample/`)).toContain('"greeting":"Hello"');
});

/** Returns the sections with a manifest: their files, and their calls with the output that the comment below each call states. */
function examplesOf(text: string): Example[] {
  return text.split(/^### /m).flatMap((section) => {
    const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", body = ""]) => ({ language, body }));
    const files = Object.fromEntries(
      blocks.flatMap(({ body }) => {
        const name = /^(?:#|\/\/|<!--) ([\w/.]+\.(?:yaml|js|html))/.exec(body)?.[1];
        return name === undefined ? [] : [[name, body] as const];
      }),
    );
    if (!("manifest.yaml" in files)) return [];
    const shell = blocks.filter(({ language }) => language === "sh").flatMap(({ body }) => body.split("\n"));
    const calls = shell.flatMap((line, index) =>
      line.startsWith("curl ") ? [{ command: line, expected: /^# → (.+?) *$/.exec(shell[index + 1] ?? "")?.[1] }] : [],
    );
    return [{ title: section.split("\n")[0] ?? "", files, calls }];
  });
}

/** Returns the output of a `curl` command with -i and -H, without running curl. */
async function call(command: string): Promise<string> {
  const headers = Object.fromEntries([...command.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name = "", value = ""]) => [name, value]));
  const url = /http:\S+/.exec(command)?.[0].replaceAll("'", "").replace(documentedUrl, daemon.url) ?? "";
  const response = await fetch(url, { headers, redirect: "manual" });
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join("");
  return `${command.includes(" -i ") ? head : ""}${await response.text()}`;
}
