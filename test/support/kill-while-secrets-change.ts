import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "./connect.js";
import { startDaemon } from "./start-daemon.js";
import { uploadWorker } from "./upload-worker.js";

const names = ["A", "B", "C", "D"] as const;
/** The kill comes at a random time within this span. It grows while kills come before all changes, and shrinks while they come late. */
let spanMs = 150;
const growth = 1.25;
const manySets = 8;
/** A value that was cut or mixed with another one would not consist of one repeated number. */
const valueOf = (count: number) => `${count}.`.repeat(2000);

/** For each secret, the number of the last acknowledged value and the number of the last value that was sent. */
const ledger = new Map(names.map((name) => [name, { acknowledged: 0, sent: 0 }]));
let acknowledgedSets = 0;
let acknowledgedRotations = 0;
let cutCalls = 0;

/** Sets the secrets one after the other, each with a number of its own, until the daemon is killed. */
async function setUntilKilled(client: Client, name: (typeof names)[number]): Promise<void> {
  const entry = ledger.get(name) as { acknowledged: number; sent: number };
  for (;;) {
    entry.sent += 1;
    await client.secrets.set({ params: { scope: "_", name: "shop", key: name }, body: { value: valueOf(entry.sent) } });
    entry.acknowledged = entry.sent;
    acknowledgedSets += 1;
  }
}

async function rotateUntilKilled(client: Client): Promise<void> {
  for (;;) {
    await client.secrets.rotateKey();
    acknowledgedRotations += 1;
  }
}

/** Expects that each secret has its last acknowledged value or a value that was sent later, and that the value is complete. */
async function assertValues(url: string): Promise<void> {
  const values = (await (await fetch(`${url}/shop/`)).json()) as Record<string, string>;
  for (const [name, entry] of ledger) {
    const { acknowledged, sent } = entry;
    if (acknowledged === 0 && values[name] === undefined) continue;
    const count = Number.parseInt(values[name] ?? "", 10);
    expect(values[name] === valueOf(count), `${name} is whole`).toBe(true);
    expect(count, `${name} after ${acknowledged} was acknowledged and ${sent} sent`).toBeGreaterThanOrEqual(acknowledged);
    expect(count).toBeLessThanOrEqual(sent);
    entry.acknowledged = count;
    entry.sent = Math.max(sent, count);
  }
}

/** Kills the daemon `rounds` times while clients set four secrets and rotate the key. Expects that no acknowledged value is lost. */
export async function killWhileSecretsChange(rounds: number): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "killed-secrets-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (let round = 0; round < rounds; round += 1) {
    const daemon = await startDaemon({ directory });
    try {
      const client = connect(daemon.url, daemon.rootKey);
      if (round === 0) await uploadWorker(client, "shop", { "index.js": "export default { fetch: (_, env) => Response.json(env) };" });
      await assertValues(daemon.url);
      const changes = [...names.map((name) => setUntilKilled(client, name)), rotateUntilKilled(client)];
      const ends = changes.map((change) =>
        change.catch(() => {
          cutCalls += 1;
        }),
      );
      const before = acknowledgedSets;
      await delay(Math.random() * spanMs);
      await daemon.kill();
      await Promise.all(ends);
      if (acknowledgedSets === before) spanMs *= growth;
      else if (acknowledgedSets - before > manySets) spanMs /= growth;
    } finally {
      await daemon.kill();
    }
  }
  const daemon = await startDaemon({ directory });
  await assertValues(daemon.url);
  await daemon.kill();
  const keys = (await readFile(path.join(directory, "state", "secrets.key"), "utf8")).trim().split("\n");
  expect((await readdir(path.join(directory, "state"))).filter((name) => name.startsWith("secrets.key"))).toEqual(["secrets.key"]);
  expect(keys, "keys after the interrupted rotations are finished").toHaveLength(1);
  // The kills must hit changes, not only the time before or after them.
  expect(acknowledgedSets).toBeGreaterThan(rounds / 2);
  expect(acknowledgedRotations).toBeGreaterThan(rounds / 10);
  expect(cutCalls).toBeGreaterThan(rounds);
}
