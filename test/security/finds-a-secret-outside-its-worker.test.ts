import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { runRuntimectl } from "../support/run-runtimectl.js";
import { createSender, type Answer } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** Different values, so that a found value shows how it leaked. */
const secrets = {
  worker: "sk_live_worker-7b1e\n2f99",
  namespace: "sk_live_namespace-41ac",
  staged: "sk_live_staged-c0de",
  applied: "sk_live_applied-93d0",
  rejected: "sk_live_rejected-5a5a\u0001",
} as const;
const control = "a-public-value-of-the-manifest";
const app = `export default {
  fetch(request: Request, env: Record<string, string>) {
    if (new URL(request.url).pathname === "/crash") process.exit(1);
    if (new URL(request.url).pathname === "/throw") throw new Error("the worker failed");
    return Response.json([env.WORKER, env.NAMESPACE, process.env.APPLIED]);
  },
};`;

let daemon: TestDaemon;
let root: Client;
let send: ReturnType<typeof createSender>;
/** Error bodies, and results of calls that changed or listed secrets. */
const answers: Answer[] = [];

const of = (value: string, more = {}) => JSON.stringify({ value, ...more });

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_LOG_LEVEL: "trace" } });
  root = connect(daemon.url, daemon.rootKey);
  send = createSender(daemon.url);
  const call = async (method: string, at: string, body?: string) => {
    const headers = { "x-api-key": daemon.rootKey, ...(body !== undefined && { "content-type": "application/json" }) };
    answers.push(await send({ method, path: `/api/${at}`, headers, body: body ?? null }));
  };
  const worker = "workers/@team/shop/secrets";
  await call("PUT", `${worker}/WORKER`, of(secrets.worker));
  await call("PUT", "namespaces/@team/secrets/NAMESPACE", of(secrets.namespace));
  await call("PUT", `${worker}/APPLIED`, of(secrets.applied, { stage: true }));
  await deploy("1.0.0");
  await call("PUT", `${worker}/STAGED`, of(secrets.staged, { stage: true }));
  await call("PUT", `${worker}/BAD`, of(secrets.rejected));
  await call("PUT", `${worker}/BAD-NAME`, of(secrets.worker));
  await call("PUT", `${worker}/BAD`, of(secrets.worker, { extra: secrets.worker }));
  await call("PUT", `${worker}/BAD`, `{"value": "${secrets.namespace}", ${secrets.staged}`);
  await call("PUT", `${worker}/BAD`, JSON.stringify({ value: [secrets.worker], stage: secrets.staged }));
  await call("PUT", `${worker}/BAD`, of(secrets.worker.repeat(3000)));
  await call("GET", worker);
  await call("POST", "secrets/rotate-key");
  await call("DELETE", `${worker}/ABSENT`);
  for (const at of ["", "throw", "crash", ""]) await fetch(`${daemon.url}/@team/shop/${at}`);
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

async function deploy(version: string): Promise<void> {
  const archive = await packFiles({
    "index.ts": app,
    "manifest.yaml": manifestOf("@team/shop", version, `env: { CONTROL: ${control} }\nsecrets: [WORKER]\n`),
  });
  await root.workers.upload({ file: uploadOf("package.tgz", archive), query: { check: "true" } });
}

/** Returns which secrets the bytes contain: as they are, as JSON, in URLs, or in Base64 at any offset. */
function found(bytes: Buffer): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const distinctive = value.split("\n")[0]?.replace("\u0001", "") ?? "";
    const encoded = [0, 1, 2].map((offset) =>
      Buffer.from(" ".repeat(offset) + distinctive)
        .toString("base64")
        .slice(4, -4),
    );
    const forms = [distinctive, encodeURIComponent(distinctive), Buffer.from(distinctive).toString("hex"), ...encoded];
    return forms.some((form) => bytes.includes(form)) ? [name] : [];
  });
}

/** Follows no links: `recursive` of Node 26 would follow the one to the package of the daemon. */
async function filesBelow(directory: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(file)));
    else if (entry.isFile()) files.push(file);
  }
  return files;
}

describe("the value of a secret", () => {
  it("is in the worker's environment, which proves that the search can find the value", async () => {
    expect(await (await fetch(`${daemon.url}/@team/shop/`)).json()).toEqual([secrets.worker, secrets.namespace, secrets.applied]);
    for (const value of Object.values(secrets)) expect(found(Buffer.from(JSON.stringify({ value })))).toHaveLength(1);
  });

  it("is in no file of the running daemon", async () => {
    const files = await filesBelow(daemon.directory);
    const contents = await Promise.all(files.map((file) => readFile(file)));
    expect(contents.filter((content) => content.includes(control)).length, "files with the manifest's env").toBeGreaterThan(0);
    expect(files.filter((_, index) => found(contents[index] as Buffer).length > 0)).toEqual([]);
  });

  it("is in no environment variable or command line of another process", () => {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
    const texts = processes.flatMap((id) =>
      ["environ", "cmdline"].map((file) => {
        try {
          return { file: `/proc/${id}/${file}`, bytes: readFileSync(`/proc/${id}/${file}`) };
        } catch {
          return { file, bytes: Buffer.alloc(0) };
        }
      }),
    );
    expect(texts.filter(({ bytes }) => bytes.includes(daemon.directory)).length).toBeGreaterThan(0);
    expect(texts.filter(({ bytes }) => found(bytes).length > 0).map(({ file }) => file)).toEqual([]);
  });

  it("is in no log, audit entry, event, metric or API response", async () => {
    const { entries } = await root.audit.list({ query: { limit: 1000 } });
    const logs = await root.workers.logs({ params: { scope: "@team", name: "shop" } });
    const controller = new AbortController();
    const events: unknown[] = [];
    const following = (async () => {
      for await (const event of root.events.stream.follow({ query: { since: "1h" } }, { signal: controller.signal })) events.push(event);
    })().catch(() => undefined);
    await expect.poll(() => JSON.stringify(events)).toContain("secret.key-rotated");
    controller.abort();
    await following;
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 400, 400, 400, 400, 400, 200, 200, 404]);
    expect(JSON.stringify(entries)).toContain("secret.set");
    const texts = [
      daemon.output(),
      JSON.stringify([entries, logs, events]),
      JSON.stringify(await root.metrics.show()),
      ...answers.map(({ text }) => text),
    ];
    expect(found(Buffer.from(texts.join("\n")))).toEqual([]);
  });

  it("is not in a backup, and neither is the encryption key", async () => {
    const backup = path.join(daemon.directory, "backup.tgz");
    const directories = ["--state-dir", "state", "--worker-dirs", "workers", "--plugin-dirs", "plugins"];
    const run = await runRuntimectl(daemon, ["daemon", "backup", backup, ...directories]);
    expect(run, run.stderr).toMatchObject({ status: 0 });
    const bytes = gunzipSync(await readFile(backup));
    expect(bytes.includes(control) && bytes.includes("@team/shop WORKER"), "the backup has the manifest and the encrypted rows").toBe(true);
    expect(found(bytes)).toEqual([]);
    const key = Buffer.from((await readFile(path.join(daemon.directory, "state", "secrets.key"), "utf8")).trim(), "base64");
    expect(key).toHaveLength(32);
    expect([key, key.toString("base64"), key.toString("hex")].some((form) => bytes.includes(form))).toBe(false);
  });

  it("is in no file that a caller can download", async () => {
    const response = await send({
      path: "/api/workers/files/download?path=workers/@team/shop/1.0.0/manifest.yaml",
      headers: { "x-api-key": daemon.rootKey },
    });
    expect(response.text).toContain(control);
    expect(found(Buffer.from(response.text))).toEqual([]);
    const zip = await fetch(`${daemon.url}/api/workers/files/download?path=workers`, { headers: { "x-api-key": daemon.rootKey } });
    expect(found(Buffer.from(await zip.arrayBuffer()))).toEqual([]);
  });
});
