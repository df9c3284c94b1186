import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let operator: string;

beforeAll(async () => {
  daemon = await startDaemon();
  operator = (await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "operator", role: "editor" } })).data.key;
});
afterAll(() => daemon.dispose());

async function upload(version: string, headers: Record<string, string>, files: Record<string, string> = {}): Promise<number> {
  const form = new FormData();
  const archive = await packFiles({ "manifest.yaml": manifestOf("app", version), "index.html": version, ...files });
  form.append("file", new Blob([new Uint8Array(archive)]), "app.tgz");
  const sent = { "user-agent": "test", origin: daemon.url, ...headers };
  return (await fetch(`${daemon.url}/api/workers/upload`, { method: "POST", headers: sent, body: form })).status;
}

async function installs(): Promise<unknown> {
  const workers = await connect(daemon.url, daemon.rootKey).workers.list();
  return workers.find(({ name }) => name === "app")?.installs;
}

test("the daemon keeps caller, time and client of each upload after a restart", async () => {
  const before = Math.floor(Date.now() / 1000);
  const forged = { ".installed.json": JSON.stringify({ at: 1, by: "another", via: "cli" }) };
  expect(await upload("1.0.0", { "x-api-key": operator }, forged)).toBe(201);
  expect(await upload("1.1.0", { "x-api-key": daemon.rootKey, "user-agent": "runtimectl/0.1.0" })).toBe(201);
  expect(await upload("1.2.0", { cookie: `runtime_api_key=${operator}` })).toBe(201);

  const at = expect.any(Number) as number;
  const expected = {
    "1.0.0": { at, by: "operator", via: "api" },
    "1.1.0": { at, by: "root", via: "cli" },
    "1.2.0": { at, by: "operator", via: "panel" },
  };
  const listed = (await installs()) as Record<string, { at: number }>;
  expect(listed).toEqual(expected);
  for (const installation of Object.values(listed)) expect(installation.at).toBeGreaterThanOrEqual(before);

  await daemon.stop();
  const again = await startDaemon({ directory: daemon.directory });
  daemon = again;
  expect(await installs()).toEqual(listed);
});

test("the daemon hides .installed.json and rejects the rename of a file to this name", async () => {
  const client = connect(daemon.url, daemon.rootKey);
  const { entries } = (await client.workerFiles.list({ query: { path: "workers/app/1.0.0" } })).data;
  expect(entries.map(({ name }) => name)).toEqual(["index.html", "manifest.yaml"]);
  const before = await installs();
  const body = { path: "workers/app/1.0.0/index.html", newName: ".installed.json" };
  await expect(client.workerFiles.rename({ body })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  expect(await installs()).toEqual(before);
  expect((await fetch(`${daemon.url}/app@1.0.0/.installed.json`)).status).toBe(404);
});
