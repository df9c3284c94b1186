import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import type { AuditEntry } from "../../src/shared/contract/audit.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { parseExposition } from "../support/parse-exposition.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_AUDIT_LOG_SIZE: "8kb", RUNTIME_AUDIT_LOG_FILES: "3" } });
  root = connect(daemon.url, daemon.rootKey);
});
afterAll(() => daemon.dispose());

const folder = () => path.join(daemon.directory, "state", "audit");
const read = async (query: NonNullable<Parameters<Client["audit"]["list"]>[0]>["query"] = {}) => (await root.audit.list({ query })).entries;
const shown = (entries: readonly AuditEntry[]) =>
  entries.map(({ action, outcome, code, subject }) =>
    [action, outcome, code, subject?.name].filter((part) => part !== undefined).join(" "),
  );
const names = (entries: readonly AuditEntry[]) => entries.map(({ subject }) => subject?.name);
const createKey = async (name: string, role: "viewer" | "admin" = "viewer", namespaces = ["*"]) =>
  (await root.keys.create({ body: { name, role, namespaces } })).data;

async function install(client: Client, name: string): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": name });
  await client.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

const call = async (method: string, target: string, headers: Record<string, string> = {}) =>
  (await fetch(`${daemon.url}/api${target}`, { method, headers })).status;

test("the audit log has caller and address of a change before the daemon responds", async () => {
  const key = await createKey("deployer", "admin");
  await install(connect(daemon.url, key.key), "@team/app");
  const entry = (await read()).at(-1);
  expect(entry).toEqual({
    id: expect.any(Number),
    at: expect.closeTo(Date.now(), -5),
    action: "worker.installed",
    outcome: "done",
    principal: { id: key.id, name: "deployer", keyPrefix: key.keyPrefix },
    clientAddress: "127.0.0.1",
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    subject: { name: "@team/app", version: "1.0.0" },
  });
  const [file = ""] = await readdir(folder());
  const lines = (await readFile(path.join(folder(), file), "utf8")).trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual(entry);
  expect((await stat(path.join(folder(), file))).mode & 0o777).toBe(0o600);
  expect((await stat(folder())).mode & 0o777).toBe(0o700);
});

test("the audit log records error code and caller of rejected and failed calls", async () => {
  const { key, id } = await createKey("curious");
  const before = (await read()).at(-1)?.id ?? 0;
  expect(await call("DELETE", "/workers/@team/app")).toBe(401);
  expect(await call("DELETE", "/workers/@team/app", { "x-api-key": key, "x-forwarded-for": "203.0.113.9" })).toBe(403);
  expect(await call("DELETE", "/keys/12345", { "x-api-key": daemon.rootKey })).toBe(404);
  expect(await call("GET", "/keys")).toBe(401);
  await expect
    .poll(async () => shown((await read()).filter((entry) => entry.id > before)))
    .toEqual([
      "worker.deleted refused AUTH_REQUIRED @team/app",
      "worker.deleted refused PERMISSION_DENIED @team/app",
      "key.revoked failed KEY_NOT_FOUND",
    ]);
  const [anonymous, curious] = (await read()).filter((entry) => entry.id > before);
  expect(anonymous?.principal).toBeUndefined();
  expect(curious).toMatchObject({ principal: { id, name: "curious" }, forwardedFor: "203.0.113.9", clientAddress: "127.0.0.1" });
  expect((await root.workers.list()).map(({ name }) => name)).toContain("@team/app");
});

test("the audit log shortens a long X-Forwarded-For value and keeps the last address", async () => {
  const forwarded = `${"198.51.100.1, ".repeat(300)}203.0.113.7`;
  expect(await call("DELETE", "/keys/12345", { "x-api-key": daemon.rootKey, "x-forwarded-for": forwarded })).toBe(404);
  await expect
    .poll(async () => (await read()).at(-1))
    .toMatchObject({ code: "KEY_NOT_FOUND", forwardedFor: `${"198.51.100.1, ".repeat(13)}203.0.113.7` });
});

test("the audit log omits API keys that clients send in names, IDs and other headers", async () => {
  const { key } = await createKey("victim");
  await createKey(`named ${key}`);
  await call("POST", "/plugins/reload", { "x-api-key": daemon.rootKey, "x-request-id": key, "x-forwarded-for": daemon.rootKey });
  const text = (await Promise.all((await readdir(folder())).map((name) => readFile(path.join(folder(), name), "utf8")))).join("");
  expect(text).toContain("key.created");
  expect(text).not.toContain(key);
  expect(text).not.toContain(daemon.rootKey);
});

test("the audit log can be filtered by action, caller and time, and read in pages", async () => {
  const other = await createKey("pager", "admin");
  const pager = connect(daemon.url, other.key);
  for (const name of ["p1", "p2", "p3"]) await install(pager, name);
  expect(names(await read({ principal: "pager" }))).toEqual(["p1", "p2", "p3"]);
  expect(names(await read({ principal: String(other.id), limit: 1 }))).toEqual(["p3"]);
  const { entries, hasMore } = await root.audit.list({ query: { action: "worker", principal: "pager", limit: 2 } });
  expect([names(entries), hasMore]).toEqual([["p2", "p3"], true]);
  const page = await root.audit.list({ query: { action: "worker.installed", principal: "pager", limit: 2, before: entries[0]?.id ?? 0 } });
  expect([names(page.entries), page.hasMore]).toEqual([["p1"], false]);
  expect(await read({ action: "plugin.deleted" })).toEqual([]);
  expect(await read({ since: String(Date.now() + 60_000) })).toEqual([]);
  expect((await read({ since: "1h", principal: "pager" })).length).toBe(3);
});

test("a key needs audit:read, and reads only entries of its own calls and namespaces", async () => {
  const [viewer, team] = [await createKey("viewer"), await createKey("team", "admin", ["@team"])];
  await expect(connect(daemon.url, viewer.key).audit.list({ query: {} })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await install(root, "@team/mine");
  await install(root, "@other/theirs");
  await connect(daemon.url, team.key).plugins.reload();
  const { entries } = await connect(daemon.url, team.key).audit.list({ query: { limit: 1000 } });
  expect(shown(entries)).toContain("worker.installed done @team/mine");
  expect(entries.at(-1)).toMatchObject({ action: "plugin.reloaded", principal: { id: team.id } });
  expect(entries.filter(({ subject, principal }) => principal?.id !== team.id && !subject?.name?.startsWith("@team/"))).toEqual([]);
});

/** Follows the events about created keys until the stream is stopped. */
function follow(lastEventId?: string) {
  const controller = new AbortController();
  const seen: AuditEntry[] = [];
  const done = (async () => {
    const query = { action: "key.created", limit: 1 };
    for await (const entry of root.audit.list.follow({ query }, { signal: controller.signal, lastEventId })) seen.push(entry);
  })().catch(() => undefined);
  return { seen, names: () => seen.map(({ subject }) => subject?.name), stop: () => (controller.abort(), done) };
}

test("an audit log stream can continue after the last entry that the client received", async () => {
  await createKey("before");
  const reader = follow();
  await expect.poll(reader.names).toEqual(["before"]);
  await createKey("while");
  await expect.poll(reader.names).toEqual(["before", "while"]);
  await reader.stop();
  for (const name of ["x", "y"]) await createKey(name);
  const again = follow(String(reader.seen.at(-1)?.id));
  await createKey("z");
  await expect.poll(again.names).toEqual(["x", "y", "z"]);
  await again.stop();
});

test("the audit log limits the entries about rejected calls, but records every change", async () => {
  const before = (await read()).at(-1)?.id ?? 0;
  for (let index = 0; index < 30; index += 1)
    await Promise.all(Array.from({ length: 10 }, () => call("DELETE", "/workers/_/nothing", { "x-api-key": "wrong" })));
  await createKey("among the flood");
  const after = (await read({ limit: 1000 })).filter(({ id }) => id > before);
  const refused = after.filter(({ outcome }) => outcome === "refused");
  expect(refused.length).toBeLessThan(150);
  const skipped = after.reduce((sum, { skippedCount = 0 }) => sum + skippedCount, 0);
  expect(refused.length + skipped).toBe(300);
  expect(shown(after)).toContain("key.created done among the flood");
});

test("the audit log limits its disk space, and continues the entry IDs after a restart", async () => {
  const first = (await read())[0];
  for (let index = 0; index < 60; index += 1) await createKey(`filler ${index} ${"x".repeat(80)}`);
  const files = await readdir(folder());
  expect(files.length).toBe(3);
  for (const name of files) expect((await stat(path.join(folder(), name))).size).toBeLessThan(9 * 1024);
  const last = (await read()).at(-1);
  expect((await read({ limit: 1000 })).some(({ id }) => id === first?.id)).toBe(false);

  await daemon.stop();
  daemon = await startDaemon({ directory: daemon.directory, env: { RUNTIME_AUDIT_LOG_SIZE: "8kb", RUNTIME_AUDIT_LOG_FILES: "3" } });
  root = connect(daemon.url, daemon.rootKey);
  await createKey("after the restart");
  const [old, fresh] = (await read()).slice(-2);
  expect(old).toEqual(last);
  expect(fresh?.id).toBeGreaterThan(old?.id ?? Infinity);
  const families = parseExposition(await root.metrics.text());
  const { daemon: numbers } = await root.metrics.show({ query: { detail: "totals" } });
  expect(numbers).toMatchObject({ auditLog: { written: 1, skipped: 0, waiting: 0 }, events: { published: 1, followers: 0 } });
  expect(numbers.keyStore).toMatchObject({ isUsable: true, keys: expect.any(Number) });
  expect([...families.keys()]).toEqual(expect.arrayContaining(["runtimed_audit_entries_total", "runtimed_events_total", "runtimed_keys"]));
});
