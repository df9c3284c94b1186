import { execFile } from "node:child_process";
import { appendFile, chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { AuditLog } from "../../../src/server/events/audit-log.js";
import { createLog } from "../../../src/server/log/log.js";
import { connect } from "../../support/connect.js";
import { startDaemon } from "../../support/start-daemon.js";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "runtimed-audit-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
});

const log = createLog({ level: "silent" });
const open = (options: { fileBytes?: number; keptFiles?: number; now?: () => number } = {}) =>
  AuditLog.open({ directory, fileBytes: 1024 ** 2, keptFiles: 3, now: Date.now, log, ...options });
const record = (audit: AuditLog, name: string) =>
  audit.record({ action: "key.created", outcome: "done", clientAddress: "local", requestId: name, subject: {} }, { isSynced: true });
const names = async (audit: AuditLog, limit = 1000) => (await audit.read({ limit })).entries.map(({ requestId }) => requestId);
const filesIn = async () => (await readdir(directory)).toSorted();

test.each([
  ["an incomplete entry", '{"id":17,"at":1'],
  ["a long tail without a line end", "x".repeat(200_000)],
  ["zeros, as left by a power failure", "\0".repeat(5000)],
])("the audit log removes an incomplete last line before the next entry (line: %s)", async (_what, torn) => {
  const audit = await open();
  for (const name of ["a", "b"]) await record(audit, name);
  await audit.close();
  const [file = ""] = await filesIn();
  await appendFile(path.join(directory, file), torn);

  const again = await open();
  expect(await names(again)).toEqual(["a", "b"]);
  await record(again, "c");
  expect(await names(again)).toEqual(["a", "b", "c"]);
  const text = await readFile(path.join(directory, file), "utf8");
  expect(text.split("\n").map((line) => line.slice(0, 1))).toEqual(["{", "{", "{", ""]);
  await again.close();
});

test("the audit log ignores lines that are not valid entries", async () => {
  const audit = await open();
  await record(audit, "a");
  const [file = ""] = await filesIn();
  await appendFile(path.join(directory, file), 'not JSON\n{"id":"none"}\n');
  await record(audit, "b");
  expect(await names(audit)).toEqual(["a", "b"]);
  await audit.close();
});

test("the audit log assigns increasing entry IDs across files and clock changes", async () => {
  const audit = await open({ fileBytes: 2000, keptFiles: 100 });
  for (let index = 0; index < 60; index += 1) await record(audit, `first ${index} ${"x".repeat(2 * index)}`);
  await audit.close();
  const earlier = await open({ fileBytes: 2000, keptFiles: 100, now: () => 1000 });
  await record(earlier, "earlier");
  const { entries } = await earlier.read({ limit: 1000 });
  expect(entries).toHaveLength(61);
  expect((await filesIn()).length).toBeGreaterThan(4);
  expect(entries.every(({ id }, index) => index === 0 || id > (entries[index - 1]?.id ?? 0))).toBe(true);
  expect(await names(earlier, 2)).toEqual([expect.stringContaining("first 59"), "earlier"]);
  await earlier.close();
});

test("the audit log writes 300 concurrent entries in order", async () => {
  const audit = await open({ fileBytes: 20_000, keptFiles: 100 });
  const all = Array.from({ length: 300 }, (_, index) => String(index));
  await Promise.all(all.map((name) => record(audit, name)));
  expect(await names(audit)).toEqual(all);
  expect(audit.counts).toEqual({ written: 300, skipped: 0, waiting: 0 });
  await audit.close();
});

test("the audit log keeps entries in memory while the disk is full", async () => {
  await chmod(directory, 0o755);
  const script = path.join(import.meta.dirname, "full-disk-subject.mjs");
  const mounted = `mount -t tmpfs -o size=256k,mode=755 tmpfs ${directory} && exec "$0" "$@"`;
  const inOwnMounts = ["--user", "--map-root-user", "--mount", "sh", "-c", mounted, process.execPath, script, directory];
  const { stdout } = await promisify(execFile)("unshare", inOwnMounts);
  expect(JSON.parse(stdout)).toEqual({ waited: true, isQuick: true, count: 62, names: ["before", "after"] });
});

test("the audit log contains each confirmed change after kill -9 of the daemon", async () => {
  const acknowledged: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const daemon = await startDaemon({ directory, env: { RUNTIME_AUDIT_LOG_SIZE: "4kb", RUNTIME_AUDIT_LOG_FILES: "1000" } });
    const root = connect(daemon.url, daemon.rootKey);
    const before = acknowledged.length;
    const change = async (lane: number) => {
      for (let index = 0; ; index += 1) {
        const name = `key ${round} ${lane} ${index}`;
        await root.keys.create({ body: { name, role: "viewer" } });
        acknowledged.push(name);
      }
    };
    const lanes = [0, 1, 2, 3].map((lane) => change(lane).catch(() => undefined));
    await expect.poll(() => acknowledged.length - before, { interval: 3 }).toBeGreaterThan(10);
    await daemon.kill();
    await Promise.all(lanes);
  }
  const audit = await AuditLog.open({
    directory: path.join(directory, "state", "audit"),
    fileBytes: 1024,
    keptFiles: 1000,
    now: Date.now,
    log,
  });
  const { entries } = await audit.read({ limit: Infinity, actions: ["key.created"] });
  const written = new Set(entries.map(({ subject }) => subject?.name));
  expect(acknowledged.filter((name) => !written.has(name)).slice(-5)).toEqual([]);
  await audit.close();
});
