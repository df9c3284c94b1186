import { randomBytes } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../support/run-program.js";
import { daemonProgram } from "../../support/start-daemon.js";
import { startInstances, type TestInstance, type TestInstances } from "../../support/start-instances.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";
import { uploadWorker } from "../../support/upload-worker.js";

const app = "export default { fetch: (request, env) => new Response(env.TOKEN ?? 'none') };";
const keyLine = () => randomBytes(32).toString("base64");
const params = { scope: "@team", name: "shop", key: "TOKEN" };

let sqld: Sqld;
let instances: TestInstances;

beforeAll(async () => {
  [sqld, instances] = await Promise.all([startSqld(), startInstances()]);
});

afterAll(async () => {
  await instances.dispose();
  await sqld.dispose();
});

const syncVariables = () => ({
  RUNTIME_AUTH_DB_MODE: "sync",
  RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
  RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms",
});

/** Starts a daemon with these keys as its systemd credential. */
async function start(name: string, keys: readonly string[]): Promise<TestInstance> {
  const credentials = path.join(instances.directory, `credentials-${name}`);
  await mkdir(credentials, { recursive: true });
  if (keys.length > 0) await writeFile(path.join(credentials, "secrets-key"), keys.join("\n"));
  return instances.start(name, { ...syncVariables(), CREDENTIALS_DIRECTORY: credentials });
}

/** Installs the worker in the directory of one daemon. */
const upload = ({ client }: TestInstance) => uploadWorker(client, "@team/shop", { "index.js": app });

const read = async ({ url }: TestInstance) => (await fetch(`${url}/@team/shop/`)).text();
const set = ({ client }: TestInstance, value: string) => client.secrets.set({ params, body: { value } });

test("daemons with one primary and one encryption key share their secrets", async () => {
  const [old, next] = [keyLine(), keyLine()];
  const keyless = await start("keyless", []);
  await expect(set(keyless, "x")).rejects.toMatchObject({ code: "SECRETS_KEY_UNAVAILABLE", status: 503 });
  expect(await readdir(path.join(instances.directory, "keyless", "state"))).not.toContain("secrets.key");
  await keyless.stop();

  let [a, b] = [await start("a", [old]), await start("b", [old])];
  await Promise.all([upload(a), upload(b)]);
  expect(await read(b)).toBe("none");
  await set(a, "of a");
  expect(await read(a)).toBe("of a");
  await expect.poll(() => read(b)).toBe("of a");
  await set(b, "of b");
  await expect.poll(() => read(a)).toBe("of b");

  const stranger = await runProgram([daemonProgram], {
    cwd: path.join(instances.directory, "keyless"),
    env: {
      ...syncVariables(),
      HOST: "127.0.0.1",
      PORT: "0",
      RUNTIME_ROOT_KEY: "root-key-of-a-test",
      RUNTIME_STATE_DIR: path.join(instances.directory, "keyless", "state"),
    },
  });
  expect(stranger.code).toBe(78);
  expect(stranger.stderr).toMatch(
    /^runtimed: secrets of the primary are encrypted with the key [0-9a-f]{16}, which is not in secrets\.key .*\n$/,
  );

  await Promise.all([a.stop(), b.stop()]);
  [a, b] = [await start("a", [next, old]), await start("b", [next, old])];
  expect((await a.client.secrets.rotateKey()).data.reencrypted).toBe(1);
  await expect(a.client.secrets.rotateKey()).rejects.toMatchObject({ code: "SECRETS_KEY_UNCHANGED", status: 409 });
  expect(await read(a)).toBe("of b");
  await b.stop();
  b = await start("b", [next]);
  expect(await read(b)).toBe("of b");
});

test("a daemon without the new encryption key uses the previous value of a secret", async () => {
  const [shared, other] = [keyLine(), keyLine()];
  const primary = sqld;
  sqld = await startSqld();
  try {
    const [c, d] = [await start("c", [shared]), await start("d", [shared, other])];
    await Promise.all([upload(c), upload(d)]);
    await set(c, "readable");
    for (const daemon of [c, d]) await expect.poll(() => read(daemon)).toBe("readable");
    await d.stop();
    const changed = await start("d", [other, shared]);
    await set(changed, "for d only");
    await expect.poll(async () => c.output()).toContain("changed secrets cannot be decrypted");
    expect(await read(c)).toBe("readable");
    expect(await read(changed)).toBe("for d only");
    const { checks } = await c.client.health.ready({ query: { verbose: "1" } });
    expect(checks).toContainEqual({
      name: "secrets-key",
      status: "degraded",
      message: expect.stringContaining("restore that key") as string,
    });
    await Promise.all([c.stop(), changed.stop()]);
  } finally {
    await sqld.dispose();
    sqld = primary;
  }
});
