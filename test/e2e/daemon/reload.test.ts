import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { listenForNotes } from "../../support/notify-listener.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const plugin = (answer: string) => ({
  "teller/manifest.yaml": "name: teller\nversion: 1.0.0\nbase: /teller\n",
  "teller/plugin.js": `export default { routes: { fetch: () => new Response(${answer}) } };`,
});

async function startWithKeyFile(env: Record<string, string> = {}): Promise<TestDaemon & { keyFile: string }> {
  const keyFile = path.join(await temporaryDirectory(), "root-key");
  await writeFile(keyFile, "the first key\n");
  const daemon = await startDaemon({ env: { RUNTIME_ROOT_KEY_FILE: keyFile, ...env } });
  onTestFinished(daemon.dispose);
  return { ...daemon, keyFile };
}

/** Whether the API accepts a key. */
const isAccepted = async ({ url }: TestDaemon, key: string) =>
  (await fetch(`${url}/api/keys`, { headers: { "x-api-key": key } })).status === 200;

const countOf = (text: string, part: string) => text.split(part).length - 1;

async function hangUp(daemon: TestDaemon): Promise<void> {
  const before = countOf(daemon.output(), '"msg":"reloaded"');
  daemon.process.kill("SIGHUP");
  await expect.poll(() => countOf(daemon.output(), '"msg":"reloaded"')).toBeGreaterThan(before);
}

describe("a daemon that receives SIGHUP", () => {
  test("reloads all plugins, and notifies the service manager before and after", async () => {
    const address = path.join(await temporaryDirectory(), "notify");
    const manager = await listenForNotes(address);
    const daemon = await startWithKeyFile({ NOTIFY_SOCKET: address });
    await writeTree(path.join(daemon.directory, "plugins"), plugin("'one'"));
    await hangUp(daemon);
    expect(await (await fetch(`${daemon.url}/teller`)).text()).toBe("one");
    await writeTree(path.join(daemon.directory, "plugins"), plugin("'two'"));
    const startedAt = process.hrtime.bigint() / 1000n;

    await hangUp(daemon);

    expect(await (await fetch(`${daemon.url}/teller`)).text()).toBe("two");
    await expect.poll(() => manager.withLine("READY=1")).toHaveLength(3);
    const words = manager.notes.map((note) => note.split("\n")[0]);
    expect(words).toEqual(["READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1"]);
    const clock = BigInt(/MONOTONIC_USEC=(\d+)/.exec(manager.withLine("RELOADING=1")[1] ?? "")?.[1] ?? 0);
    expect(clock).toBeGreaterThan(startedAt);
    expect(clock).toBeLessThan(process.hrtime.bigint() / 1000n);
  });

  test("reads the new root key from the key file, and rejects the previous key", async () => {
    const daemon = await startWithKeyFile();
    expect(await isAccepted(daemon, "the first key")).toBe(true);
    await writeFile(daemon.keyFile, "the second key\n");
    expect(await isAccepted(daemon, "the second key")).toBe(false);

    await hangUp(daemon);

    expect(await isAccepted(daemon, "the second key")).toBe(true);
    expect(await isAccepted(daemon, "the first key")).toBe(false);
    expect(daemon.output()).toContain("root key replaced");
    expect(daemon.output()).not.toMatch(/the (?:first|second) key/);
  });

  test.each([
    ["is empty", "\n", "is empty"],
    ["contains an invalid key", "schlüssel\n", "could not be read"],
  ])("keeps the root key, and logs why the key file is invalid (the file %s)", async (_case, text, words) => {
    const daemon = await startWithKeyFile();
    await writeFile(daemon.keyFile, text);

    await hangUp(daemon);

    expect(await isAccepted(daemon, "the first key")).toBe(true);
    expect(daemon.output()).toContain(words);
    expect(daemon.output()).not.toContain("schlüssel");
  });
});

test("SIGUSR2 enables debug logs until the next SIGUSR2 or SIGHUP", async () => {
  const daemon = await startWithKeyFile();
  const archive = await packFiles({
    "manifest.yaml": manifestOf("talker", "1.0.0"),
    "index.js": "export default { fetch: ({ url }) => (console.debug(`heard ${url}`), new Response('ok')) };",
    "package.json": '{"type":"module"}',
  });
  await connect(daemon.url, "the first key").workers.upload({ file: uploadOf("talker.tgz", archive) });
  const logs = () => connect(daemon.url, "the first key").workers.logs({ params: { scope: "_", name: "talker" }, query: {} });
  const say = async (word: string) => {
    expect(await (await fetch(`${daemon.url}/talker/${word}`)).text()).toBe("ok");
    // When the worker's log contains the output, the daemon has received the output.
    await expect.poll(async () => JSON.stringify(await logs())).toContain(`/${word}`);
  };
  const toggle = async (level: string) => {
    const before = countOf(daemon.output(), "SIGUSR2 changed the log level");
    daemon.process.kill("SIGUSR2");
    await expect.poll(() => countOf(daemon.output(), "SIGUSR2 changed the log level")).toBe(before + 1);
    expect(daemon.output()).toContain(`"level":"${level}"`);
  };
  await say("before");
  await toggle("debug");
  await say("during");
  await expect.poll(daemon.output).toContain("/during");
  await toggle("info");
  await say("after");
  await toggle("debug");
  await hangUp(daemon);
  await say("at-last");
  expect(await daemon.stop()).toBe(0);

  for (const word of ["before", "after", "at-last"]) expect(daemon.output()).not.toContain(`heard http://127.0.0.1/${word}`);
  expect(countOf(daemon.output(), "/before")).toBe(0);
  expect(countOf(daemon.output(), "/after")).toBe(0);
  expect(countOf(daemon.output(), "/at-last")).toBe(0);
});
