import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { UidPool } from "../../../src/server/workers/isolates/uid-pool.js";
import { startDaemon } from "../../support/start-daemon.js";
import { WorkerServer } from "../../support/worker-server.js";

/**
 * Runs code in a process without Node's permission model (newer Node versions pass it on in NODE_OPTIONS), so a denial
 * comes from the system.
 */
const prober = `
import { execFileSync } from "node:child_process";
const wrap = (code) => \`let answer; try { answer = { value: (\${code})() ?? null }; } catch (error) { answer = { error: error.code }; } console.log(JSON.stringify(answer));\`;
export default { async fetch(request) {
  if (new URL(request.url).pathname === "/pid") return new Response(String(process.pid));
  return new Response(execFileSync("/usr/bin/env", ["-u", "NODE_OPTIONS", process.execPath, "-e", wrap(await request.text())], { env: {}, encoding: "utf8" }));
} };`;

const statusOf = (pid: number, field: string): string | undefined =>
  new RegExp(`^${field}:[ \\t]*(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
const read = (file: string) => `() => require("fs").readFileSync(${JSON.stringify(file)}, "latin1").length`;
const warningsOf = (output: string): string[] => output.split("\n").filter((line) => line.startsWith('{"level":40'));
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)("isolates of a daemon that runs as root", () => {
  let server: WorkerServer;
  beforeAll(async () => {
    server = await WorkerServer.start({ permissions: ["child-process"] });
    await writeFile(path.join(server.directory, "keys.db"), "secret", { mode: 0o600 });
    for (const name of ["one", "two"]) {
      await server.add(name, { files: { "index.js": prober }, manifest: { permissions: ["child-process"] } });
    }
  });
  afterAll(() => server.stop());

  const attempt = async (name: string, code: string): Promise<unknown> =>
    (await server.fetch(`/${name}/`, { method: "POST", body: code })).json();
  const pidOf = async (name: string): Promise<number> => Number(await server.text(`/${name}/pid`));

  test("run as different users and groups, without capabilities", async () => {
    const pids = [await pidOf("one"), await pidOf("two")];
    const users = pids.map((pid) => statusOf(pid, "Uid")?.split("\t"));
    for (const [index, pid] of pids.entries()) {
      const user = users[index]?.[0];
      expect(Number(user)).toBeGreaterThanOrEqual(1_900_100_000);
      expect(users[index]).toEqual([user, user, user, user]);
      expect(statusOf(pid, "Gid")?.split("\t")).toEqual([user, user, user, user]);
      expect(statusOf(pid, "Groups")?.trim()).toBe("");
      expect(statusOf(pid, "NoNewPrivs")).toBe("1");
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) expect(statusOf(pid, set)).toMatch(/^0+$/);
    }
    expect(users[0]).not.toEqual(users[1]);
  });

  test("get user IDs that start at a random position in the configured range", () => {
    const firstUsers = Array.from({ length: 5 }, () => UidPool.find({ first: 1_900_300_000, last: 1_900_309_999 })?.take());
    expect(new Set(firstUsers).size).toBeGreaterThan(1);
  });

  test("cannot read the daemon's files, even with permission to read all files", async () => {
    expect(await attempt("one", read("/etc/hostname"))).toHaveProperty("value");
    for (const file of [`/proc/${process.pid}/environ`, `/proc/${process.pid}/mem`, path.join(server.directory, "keys.db")]) {
      expect(await attempt("one", read(file)), file).toEqual({ error: expect.stringMatching(/EACCES|EPERM/) });
    }
  });

  test("cannot read files of another isolate or send signals to other processes", async () => {
    const two = await pidOf("two");
    expect(await attempt("one", `() => require("fs").readFileSync("/proc/${two}/environ").length`)).toEqual({ error: "EACCES" });
    expect(await attempt("one", `() => require("fs").readdirSync("/proc/${two}/cwd/")`)).toEqual({ error: "EACCES" });
    for (const pid of [two, process.pid]) {
      expect(await attempt("one", `() => process.kill(${pid}, 0)`)).toEqual({ error: "EPERM" });
    }
  });

  test("cannot change files or folders in their sandbox folders", async () => {
    for (const file of ["new", "index.js", "../new", "../package.json"]) {
      const code = `() => require("fs").writeFileSync(${JSON.stringify(file)}, "changed")`;
      expect(await attempt("one", code)).toEqual({ error: expect.stringMatching(/EACCES|EFBIG/) });
    }
  });
});

describe.runIf(isRoot)("a daemon that runs as root", () => {
  const files = {
    "manifest.yaml": "name: app\n",
    "index.js": `export default { fetch: ({ url }) => {
      if (url.endsWith("/loop")) for (;;);
      return new Response(String(url.endsWith("/pid") ? process.pid : process.getuid()));
    } };`,
  };
  async function directoryWithApp(mode: number): Promise<string> {
    const directory = await mkdtemp(path.join(tmpdir(), "own-users-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    await mkdir(path.join(directory, "workers", "app", "latest"), { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(directory, "workers", "app", "latest", file), text);
    await chmod(directory, mode);
    return directory;
  }

  test("runs isolates with the configured user IDs, and deletes old sandbox folders", async () => {
    const directory = await directoryWithApp(0o755);
    const env = { RUNTIME_WORKER_UIDS: "1900200000-1900200009" };
    const killed = await startDaemon({ directory, env });
    expect(Number(await (await fetch(`${killed.url}/app/`)).text())).toBeGreaterThanOrEqual(1_900_200_000);
    const slots = /"slots":"([^"]+)"/.exec(killed.output())?.[1] as string;
    expect(statSync(slots).mode & 0o777).toBe(0o711);
    await writeFile(path.join(slots, "left"), "");
    // In an endless loop an isolate does not notice that its daemon has exited.
    const pid = Number(await (await fetch(`${killed.url}/app/pid`)).text());
    const ranMs = () => Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
    const beforeMs = ranMs();
    const loop = fetch(`${killed.url}/app/loop`).catch(() => undefined);
    await expect.poll(ranMs, { timeout: 10_000 }).toBeGreaterThan(beforeMs + 300);
    await Promise.all([loop, killed.kill()]);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    const next = await startDaemon({ directory, env });
    onTestFinished(next.dispose);
    await fetch(`${next.url}/app/`);
    expect(() => statSync(path.join(slots, "left"))).toThrow("ENOENT");
    expect(await next.stop()).toBe(0);
    expect(() => statSync(slots)).toThrow("ENOENT");
  });

  test("runs workers as root and logs a warning when other users cannot read its files", async () => {
    const daemon = await startDaemon({ directory: await directoryWithApp(0o700) });
    onTestFinished(daemon.dispose);
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("0");
    expect(warningsOf(daemon.output()).filter((line) => line.includes("RUNTIME_WORKER_UIDS"))).toHaveLength(1);
    expect(daemon.output()).toContain("cannot read");
  });

  test("runs workers as root without a warning with RUNTIME_WORKER_UIDS=off", async () => {
    const daemon = await startDaemon({ directory: await directoryWithApp(0o755), env: { RUNTIME_WORKER_UIDS: "off" } });
    onTestFinished(daemon.dispose);
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("0");
    expect(warningsOf(daemon.output()).join("\n")).not.toContain("RUNTIME_WORKER_UIDS");
  });
});
