import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../support/connect.js";
import { installCommit } from "../support/install-commit.js";
import { recordCronCalls } from "../support/record-cron-calls.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startRegistry } from "../support/start-registry.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { uploadWorker } from "../support/upload-worker.js";
import { answerAt, uploadApp } from "./instance-harness.js";

/** The last commit before the index of packages, leases and instances. */
const previousCommit = "e7d780ca46f58380a6e33676b7fe0a50a43df408";
const soonMs = 20_000;
const countedSlots = 4;
const secretsKey = Buffer.alloc(32, 7).toString("base64");

const secretApp = "export default { fetch: (request, env) => new Response(env.TOKEN ?? 'none') };";
const jobsManifest = `network: { mode: all }
cron:
  - { schedule: "* * * * * *", endpoint: /one }
`;
interface Version extends TestDaemon {
  readonly name: string;
  readonly client: ReturnType<typeof connect>;
}

interface StartOptions {
  readonly sqld: Sqld;
  readonly directory: string;
  readonly program?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

async function start(name: string, { sqld, directory, program, variables }: StartOptions): Promise<Version> {
  const credentials = path.join(directory, "credentials");
  await mkdir(credentials, { recursive: true });
  await writeFile(path.join(credentials, "secrets-key"), secretsKey);
  const daemon = await startDaemon({
    directory,
    ...(program !== undefined && { program }),
    env: {
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
      RUNTIME_WORKER_NETWORK: "all",
      CREDENTIALS_DIRECTORY: credentials,
      ...variables,
    },
  });
  onTestFinished(() => daemon.kill());
  return { ...daemon, name, client: connect(daemon.url, daemon.rootKey) };
}

/** Returns the text at the root of a host name. */
async function answerOfHost({ url }: Version, host: string): Promise<string> {
  const sent = request(`${url}/`, { headers: { host } }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return (await response.toArray()).join("");
}

const acceptsKey = async ({ url }: Version, key: string) => (await answerAt(url, "/api/workers", { "x-api-key": key })) !== "401";

/** Expects that both versions apply a key, a host and a secret that `writer` stores, and the removal of key and host by `reader`. */
async function expectShared(writer: Version, reader: Version): Promise<void> {
  const host = `${writer.name}.example.org`;
  const { data } = await writer.client.keys.create({ body: { name: `by ${writer.name}`, role: "viewer" } });
  await writer.client.hosts.add({ params: { host }, body: { worker: "secret" } });
  await writer.client.secrets.set({ params: { scope: "_", name: "secret", key: "TOKEN" }, body: { value: `by ${writer.name}` } });
  for (const daemon of [writer, reader]) {
    await expect.poll(() => acceptsKey(daemon, data.key), { timeout: soonMs }).toBe(true);
    await expect.poll(() => answerAt(daemon.url, "/secret/"), { timeout: soonMs }).toBe(`by ${writer.name}`);
    await expect.poll(() => answerOfHost(daemon, host), { timeout: soonMs }).toBe(`by ${writer.name}`);
  }
  await reader.client.keys.revoke({ params: { id: String(data.id) } });
  await reader.client.hosts.remove({ params: { host } });
  for (const daemon of [writer, reader]) {
    await expect.poll(() => acceptsKey(daemon, data.key), { timeout: soonMs }).toBe(false);
    await expect.poll(() => answerOfHost(daemon, host), { timeout: soonMs }).not.toBe(`by ${writer.name}`);
  }
}

test("daemons of the previous and the current version share keys, hosts and secrets", { timeout: 300_000 }, async () => {
  const [sqld, registry, recorder] = await Promise.all([startSqld(), startRegistry(), recordCronCalls()]);
  onTestFinished(sqld.dispose);
  onTestFinished(registry.dispose);
  onTestFinished(() => void recorder.close());
  const program = await installCommit(previousCommit, await temporaryDirectory());
  const places = { previous: await temporaryDirectory(), current: await temporaryDirectory() };
  const startPrevious = () => start("previous", { sqld, directory: places.previous, program });
  const variables = { RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed` };
  const startCurrent = () => start("current", { sqld, directory: places.current, variables });
  let previous = await startPrevious();
  let current = await startCurrent();
  for (const daemon of [previous, current]) {
    await uploadWorker(daemon.client, "secret", { "index.js": secretApp });
    await uploadWorker(daemon.client, "jobs", { "index.js": recorder.codeFor(daemon.name) }, jobsManifest);
  }

  await expectShared(previous, current);
  await expectShared(current, previous);

  // Each version starts beside the running other one, as in an upgrade and its rollback.
  await current.stop();
  expect(await answerAt(previous.url, "/secret/")).toBe("by current");
  current = await startCurrent();
  await previous.stop();
  expect(await answerAt(current.url, "/secret/")).toBe("by current");
  previous = await startPrevious();
  await expectShared(previous, current);
  await expectShared(current, previous);

  // The previous version does not read the index of packages.
  await uploadApp(current.client, "indexed", "of the index");
  expect(await answerAt(current.url, "/indexed/")).toBe("of the index");
  const { data } = await current.client.keys.create({ body: { name: "after the upload", role: "viewer" } });
  await expect.poll(() => acceptsKey(previous, data.key), { timeout: soonMs }).toBe(true);
  expect(await answerAt(previous.url, "/indexed/")).toBe("404");
  expect(await answerAt(previous.url, "/api/health/ready")).toContain('"ready"');

  // The previous version has no leases, so both versions run each slot.
  const daemonsBySecond = () => Map.groupBy(recorder.calls, ({ atMs }) => Math.floor(atMs / 1000)).values();
  const twice = () => [...daemonsBySecond()].filter((group) => new Set(group.map(({ daemon }) => daemon)).size === 2).length;
  await expect.poll(twice, { timeout: soonMs }).toBeGreaterThanOrEqual(countedSlots);
  for (const { output } of [previous, current]) expect(output()).not.toMatch(/"level":(50|60)/);
});
