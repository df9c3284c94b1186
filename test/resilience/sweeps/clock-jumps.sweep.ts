import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const day = 24 * 3600;
const year = 365 * day;

let daemon: TestDaemon;
let client: Client;
let clockFile: string;

/** Sets the offset of the daemon's clock. Its timers are not affected. */
async function setClock(offsetSeconds: number): Promise<void> {
  await writeFile(clockFile, `${offsetSeconds < 0 ? "-" : "+"}${Math.abs(offsetSeconds)}`);
}

/** Returns the path of Debian's libfaketime, which replaces the time calls of the C library. */
function library(): string {
  const folder = readdirSync("/usr/lib").map((name) => path.join("/usr/lib", name, "faketime/libfaketimeMT.so.1"));
  const found = folder.find((file) => readdirIfThere(path.dirname(file)).includes(path.basename(file)));
  if (found === undefined) throw new Error("there is no libfaketime: apt-get install faketime");
  return found;
}

function readdirIfThere(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

beforeEach(async () => {
  clockFile = path.join(await temporaryDirectory(), "clock");
  await setClock(0);
  daemon = await startDaemon({
    launcher: [
      "env",
      `LD_PRELOAD=${library()}`,
      `FAKETIME_TIMESTAMP_FILE=${clockFile}`,
      "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ],
  });
  onTestFinished(daemon.dispose);
  client = connect(daemon.url, daemon.rootKey);
});

async function makeKey(expiresIn: string): Promise<string> {
  return (await client.keys.create({ body: { name: "short", role: "viewer", expiresIn } })).data.key;
}

async function upload(text: string): Promise<void> {
  const archive = await packFiles({
    "manifest.yaml": manifestOf("app", "1.0.0"),
    "index.js": `export default { fetch: () => new Response("${text}") };`,
  });
  await client.workers.upload({ file: uploadOf("app.tgz", archive) });
}

const use = (key: string) => statusOf({ "x-api-key": key });
const statusOf = async (headers: Record<string, string>) => (await fetch(`${daemon.url}/api/workers`, { headers })).status;

test("a key expires when the clock jumps ahead, and is valid again after a clock reset", async () => {
  const key = await makeKey("1d");
  const lasting = await makeKey("never");
  expect([await use(key), await use(lasting)]).toEqual([200, 200]);
  const listed = (await client.keys.list()).keys;

  await setClock(day - 30);
  expect(await use(key)).toBe(200);
  await setClock(day + 1);
  expect([await use(key), await use(lasting)]).toEqual([401, 200]);
  // Properties of a key do not depend on the clock.
  expect((await client.keys.list()).keys.map(({ id, expiresAt }) => ({ id, expiresAt }))).toEqual(
    listed.map(({ id, expiresAt }) => ({ id, expiresAt })),
  );
  await setClock(0);
  expect([await use(key), await use(lasting)]).toEqual([200, 200]);
  await setClock(-year);
  expect([await use(key), await use(lasting)]).toEqual([200, 200]);
  await setClock(10 * year);
  expect([await use(key), await use(lasting)]).toEqual([401, 200]);
});

test("a key that expired by a clock jump is valid after a restart with the right time", async () => {
  const key = await makeKey("1d");
  await setClock(day + 1);
  const refused = await fetch(`${daemon.url}/api/workers/_/app`, { method: "DELETE", headers: { "x-api-key": key } });
  expect(refused.status).toBe(401);
  const before = (await client.keys.list()).keys.map(({ id, expiresAt }) => ({ id, expiresAt }));
  await daemon.stop();
  const later = await startDaemon({ directory: daemon.directory });
  onTestFinished(later.dispose);
  const after = await connect(later.url, later.rootKey).keys.list();
  expect(after.keys.map(({ id, expiresAt }) => ({ id, expiresAt }))).toEqual(before);
  expect((await fetch(`${later.url}/api/workers`, { headers: { "x-api-key": key } })).status).toBe(200);
});

test("a session expires together with its key when the clock jumps", async () => {
  const signIn = async (key: string) => {
    const headers = { "content-type": "application/json", origin: daemon.url };
    const answer = await fetch(`${daemon.url}/api/admin/session`, { method: "POST", headers, body: JSON.stringify({ key }) });
    expect(answer.status).toBe(200);
    return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
  };
  const ofShortKey = await signIn(await makeKey("1d"));
  const ofRootKey = await signIn(daemon.rootKey);
  const statuses = async () => [await statusOf(ofShortKey), await statusOf(ofRootKey)];
  expect(await statuses()).toEqual([200, 200]);
  await setClock(day + 1);
  expect(await statuses()).toEqual([401, 200]);
  await setClock(0);
  expect(await statuses()).toEqual([200, 200]);
});

test("an event stream closes after the clock passes the expiry of its key", { timeout: 60_000 }, async () => {
  const key = await makeKey("1d");
  const stream = await fetch(`${daemon.url}/api/events`, { headers: { "x-api-key": key } });
  expect(stream.status).toBe(200);
  const ended = stream.text();
  await setClock(day + 1);
  expect(await ended).toContain("AUTH_REQUIRED");
});

test("a daemon serves, installs and changes workers while its clock jumps", async () => {
  for (const [round, offset] of [0, year, -year, day, 0, -day, 10 * year, 0].entries()) {
    await setClock(offset);
    await upload(`round ${round}`);
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe(`round ${round}`);
    await client.workers.disable({ params: { scope: "_", name: "app", version: "1.0.0" } });
    expect((await fetch(`${daemon.url}/app/`)).status).toBe(404);
    await client.workers.enable({ params: { scope: "_", name: "app", version: "1.0.0" } });
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe(`round ${round}`);
  }
});
