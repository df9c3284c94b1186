import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installationFileName } from "../../src/shared/installation-file-name.js";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const rounds = 15;
const filesPerPackage = 25;
const version = "1.0.0";
/** Maximum time of a kill, as a multiple of the duration of undisturbed uploads. Each kill comes at a random time. */
const killSpan = 1.6;
/** Factor by which the span adapts: it grows while kills interrupt every upload and shrinks while they interrupt none. */
const growth = 1.25;
const uploadedNames = ["shop", "@team/blog", "wiki"];
const toggledName = "toggled";

/** Acknowledged changes, and changes in progress at the kill. After the next start, a change in progress is either applied or not. */
class Ledger {
  /** Markers of the last acknowledged upload of a package and of uploads with an unknown outcome. */
  readonly markers = new Map<string, { acknowledged: string | undefined; open: Set<string> }>(
    uploadedNames.map((name) => [name, { acknowledged: undefined, open: new Set() }]),
  );
  readonly keys = new Map<string, { id: number; state: "active" | "revoked" | "open" }>();
  enabled: { acknowledged: boolean; open: boolean } = { acknowledged: true, open: false };
  acknowledgedUploads = 0;
  cutUploads = 0;
  otherAcknowledgements = 0;
}

let directory: string;
const ledger = new Ledger();

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "kill-daemon-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

test(
  `a daemon keeps confirmed changes and complete packages after ${rounds} kills`,
  async () => {
    let spanMs = killSpan * (await prepare());
    for (let round = 0; round < rounds; round += 1) {
      const daemon = await startDaemon({ directory });
      try {
        await assertLedgerHolds(daemon);
        const before = ledger.acknowledgedUploads;
        await killDuringChanges(daemon, round, spanMs);
        const acknowledged = ledger.acknowledgedUploads - before;
        if (acknowledged === 0) spanMs *= growth;
        else if (acknowledged === uploadedNames.length) spanMs /= growth;
      } finally {
        await daemon.kill();
      }
    }
    const daemon = await startDaemon({ directory });
    await assertLedgerHolds(daemon);
    await daemon.kill();
    // The test needs kills during uploads, not only before or after them.
    expect(ledger.acknowledgedUploads).toBeGreaterThan(rounds / 5);
    expect(ledger.cutUploads).toBeGreaterThan(rounds / 5);
    expect(ledger.otherAcknowledgements).toBeGreaterThan(rounds);
  },
  15 * 60_000,
);

/** Installs the package that is toggled, and measures the duration of a round's uploads. */
async function prepare(): Promise<number> {
  const daemon = await startDaemon({ directory });
  const client = connect(daemon.url, daemon.rootKey);
  const toggled = await packFiles({
    "manifest.yaml": `# a comment that stays\n${manifestOf(toggledName, version)}`,
    "index.html": "toggled",
  });
  await client.workers.upload({ file: uploadOf("toggled.tgz", toggled) });
  const archives = await archivesOf("the first round");
  const startedAt = performance.now();
  await Promise.all(archives.map((archive) => upload(client, archive)));
  const uploadMs = performance.now() - startedAt;
  await daemon.kill();
  return uploadMs;
}

async function killDuringChanges(daemon: TestDaemon, round: number, spanMs: number): Promise<void> {
  const client = connect(daemon.url, daemon.rootKey);
  const archives = await archivesOf(`round ${round}`);
  const changes = [
    ...archives.map((archive) => upload(client, archive)),
    toggleForAsLongAsItRuns(client),
    changeKeysForAsLongAsItRuns(client, round),
  ];
  setTimeout(() => daemon.process.kill("SIGKILL"), Math.random() * spanMs);
  await Promise.all(changes);
}

interface MarkedArchive {
  readonly name: string;
  readonly marker: string;
  readonly archive: Buffer;
}

async function archivesOf(round: string): Promise<MarkedArchive[]> {
  return await Promise.all(
    uploadedNames.map(async (name) => {
      const marker = `${name} of ${round}`;
      return { name, marker, archive: await archiveOf(name, marker) };
    }),
  );
}

async function archiveOf(name: string, marker: string): Promise<Buffer> {
  const files = Array.from({ length: filesPerPackage }, (_, index): [string, string] => [`folder-${index % 5}/file-${index}.txt`, marker]);
  return await packFiles({ "manifest.yaml": manifestOf(name, version), "index.html": marker, ...Object.fromEntries(files) });
}

async function upload(client: Client, { name, marker, archive }: MarkedArchive): Promise<void> {
  const entry = ledger.markers.get(name);
  if (!entry) throw new Error(`${name} is not in the ledger`);
  entry.open.add(marker);
  const isDone = await client.workers.upload({ file: uploadOf("package.tgz", archive) }).then(
    () => true,
    () => false,
  );
  if (!isDone) {
    ledger.cutUploads += 1;
    return;
  }
  ledger.acknowledgedUploads += 1;
  entry.acknowledged = marker;
  entry.open.clear();
}

async function toggleForAsLongAsItRuns(client: Client): Promise<void> {
  const params = { scope: "_", name: toggledName, version };
  for (;;) {
    const next = !ledger.enabled.acknowledged;
    ledger.enabled.open = true;
    try {
      await (next ? client.workers.enable({ params }) : client.workers.disable({ params }));
    } catch {
      return;
    }
    ledger.enabled = { acknowledged: next, open: false };
    ledger.otherAcknowledgements += 1;
  }
}

async function changeKeysForAsLongAsItRuns(client: Client, round: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      const { data } = await client.keys.create({ body: { name: `key ${count} of round ${round}`, role: "viewer" } });
      const entry: { id: number; state: "active" | "revoked" | "open" } = { id: data.id, state: "active" };
      ledger.keys.set(data.key, entry);
      ledger.otherAcknowledgements += 1;
      if (count % 2 === 0) continue;
      entry.state = "open";
      await client.keys.revoke({ params: { id: String(data.id) } });
      entry.state = "revoked";
    } catch {
      return;
    }
  }
}

async function assertLedgerHolds(daemon: TestDaemon): Promise<void> {
  for (const [name, entry] of ledger.markers) {
    const found = await markerOnDisk(path.join(directory, "workers", name, version));
    const possible = [entry.acknowledged, ...entry.open];
    expect(possible, `${name} is wholly old or wholly new`).toContain(found);
    entry.acknowledged = found;
    entry.open.clear();
    if (found !== undefined) expect(await (await fetch(`${daemon.url}/${name}/`)).text()).toBe(found);
  }
  await assertToggleHolds(daemon);
  await assertKeysHold(daemon);
  await expect.poll(() => leftovers(), { timeout: 10_000 }).toEqual([]);
}

/** Returns the marker that all files of a package have, or undefined if it is not installed. Throws if they differ. */
async function markerOnDisk(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (!entries) return undefined;
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "manifest.yaml" && entry.name !== installationFileName);
  expect(files.length).toBe(filesPerPackage + 1);
  const markers = new Set(await Promise.all(files.map((file) => readFile(path.join(file.parentPath, file.name), "utf8"))));
  expect(markers.size, `${folder} holds files of one upload only`).toBe(1);
  return [...markers][0];
}

async function assertToggleHolds(daemon: TestDaemon): Promise<void> {
  const { acknowledged, open } = ledger.enabled;
  const worker = (await connect(daemon.url, daemon.rootKey).workers.list()).find(({ name }) => name === toggledName);
  const isEnabled = worker?.disabledVersions.length === 0;
  expect(open ? [true, false] : [acknowledged]).toContain(isEnabled);
  expect(await readFile(path.join(directory, "workers", toggledName, version, "manifest.yaml"), "utf8")).toContain(
    "# a comment that stays",
  );
  ledger.enabled = { acknowledged: isEnabled, open: false };
}

async function assertKeysHold(daemon: TestDaemon): Promise<void> {
  const listed = new Set((await connect(daemon.url, daemon.rootKey).keys.list()).keys.map(({ id }) => id));
  for (const { id, state } of ledger.keys.values()) {
    if (state !== "open") expect(listed.has(id), `key ${id} is ${state}`).toBe(state === "active");
  }
  // Verifying all keys over HTTP in each round would take minutes. The newest keys are at risk.
  for (const [key, { state }] of [...ledger.keys].slice(-6)) {
    const { status } = await fetch(`${daemon.url}/api/admin/session`, { headers: { "x-api-key": key } });
    if (state !== "open") expect(status).toBe(state === "active" ? 200 : 401);
  }
}

/** Returns files of the daemon other than packages: staging folders and spooled uploads. */
async function leftovers(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ["workers/.staging", "state/spool"])
    found.push(...(await readdir(path.join(directory, folder)).catch(() => [])).map((name) => `${folder}/${name}`));
  return found;
}
