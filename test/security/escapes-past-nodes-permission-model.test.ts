import { execFile } from "node:child_process";
import { chmod, chown, link, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isolatePolicy } from "../../src/server/workers/sandbox/isolate-policy.js";
import { probeKernelLayers } from "../../src/server/workers/sandbox/probe-kernel-layers.js";
import { sandboxCommand } from "../../src/server/workers/sandbox/sandbox-command.js";
import { layerNames, noLayers } from "../../src/server/workers/sandbox/sandbox-policy.js";
import { asUser, daemonUsers } from "../support/start-daemon.js";
import { WorkerServer } from "../support/worker-server.js";

/** Each attempt returns its result or throws. The program runs without Node's permission model and without its own user. */
const attacker = String.raw`
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import dgram from "node:dgram";
import v8 from "node:v8";
const [slot, secret, foreignPid] = process.argv.slice(2);
const listen = (target) => once(net.createServer().listen(target), "listening").then(() => "listening");
const attempts = {
  control: () => fs.readFileSync(slot + "/app/main.mjs").length + process.memoryUsage().rss,
  "reads /etc/passwd": () => fs.readFileSync("/etc/passwd", "utf8"),
  "reads a foreign file": () => fs.readFileSync(secret, "utf8"),
  "reads the parent of its sandbox folder": () => fs.readdirSync(slot + "/.."),
  "leaves its app by ..": () => fs.readFileSync(slot + "/app/../../secret", "utf8"),
  "follows a link in /proc": () => fs.readFileSync("/proc/self/root" + secret, "utf8"),
  "reads the environment of another process": () => fs.readFileSync("/proc/" + foreignPid + "/environ", "utf8"),
  "writes its own file": () => fs.appendFileSync(slot + "/app/main.mjs", "x"),
  "writes a foreign file": () => fs.writeFileSync(secret, "x"),
  "truncates a foreign file": () => fs.truncateSync(secret),
  "changes the mode of a foreign file by writing": () => fs.openSync(secret, "r+"),
  "changes the mode of a foreign file": () => fs.chmodSync(secret, 0o600) ?? "changed",
  "changes the times of a foreign file": () => fs.utimesSync(secret, 0, 0) ?? "changed",
  "changes the mode of its own file": () => fs.fchmodSync(fs.openSync(slot + "/app/main.mjs"), 0) ?? "changed",
  "changes the priority of another process": () => os.setPriority(Number(foreignPid), os.getPriority()) ?? "changed",
  "creates a file": () => fs.writeFileSync("/tmp/made-by-an-attacker", "x"),
  "links a foreign file": () => fs.linkSync(secret, slot + "/app/stolen"),
  "runs a program": () => execFileSync("/bin/sh", ["-c", "id"]).toString(),
  "runs its own file": () => execFileSync(slot + "/app/main.mjs").toString(),
  "listens on a port": () => listen({ port: 0, host: "127.0.0.1" }),
  "listens on ::1": () => listen({ port: 0, host: "::1" }),
  "listens on a socket": () => listen({ path: slot + "/app/s" }),
  "listens on an abstract socket": () => listen({ path: "\0attacker" }),
  "binds a UDP port": () => { const socket = dgram.createSocket("udp4"); socket.bind(0, "127.0.0.1"); return once(socket, "listening").then(() => "bound"); },
  "signals another process": () => process.kill(Number(foreignPid), 0),
  "opens a file through flags of V8": () => {
    for (const flag of ["--redirect-code-traces", "--redirect-code-traces-to=" + secret, "--trace-opt"]) v8.setFlagsFromString(flag);
    const hot = new Function("a", "let s = 0; for (let i = 0; i < 1000; i++) s += i * a; return s");
    for (let i = 0; i < 20000; i++) hot(i);
    throw Object.assign(new Error("nothing is known"), { code: "SEE_FILE" });
  },
};
const name = process.argv[5];
try {
  console.log(JSON.stringify({ got: String(await attempts[name]()) }));
} catch (error) {
  console.log(JSON.stringify({ code: error.code ?? String(error) }));
}
process.exit();
`;
const secretText = "a secret of another app";

let directory: string;
let slot: string;
let secret: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "slot-"));
  slot = path.join(directory, "1");
  secret = path.join(directory, "secret");
  await mkdir(path.join(slot, "app"), { recursive: true });
  for (const folder of [directory, slot, path.join(slot, "app")]) await chmod(folder, 0o777);
  await writeFile(path.join(slot, "package.json"), "{}");
  await writeFile(path.join(directory, "main.mjs"), attacker, { mode: 0o777 });
  await link(path.join(directory, "main.mjs"), path.join(slot, "app/main.mjs"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs one attempt. The process can also crash. */
async function attempt(name: string, user: number | undefined, isSandboxed: boolean): Promise<{ got?: string; code?: string }> {
  // The mode allows every user to change the file.
  await writeFile(secret, secretText);
  await chmod(secret, 0o666);
  if (user !== undefined) await chown(secret, user, user);
  const policy = isolatePolicy({
    needs: { permissions: [], network: { mode: "all", allowsLoopback: false, allow: [] }, folder: undefined },
    slot,
    hasOwnUser: false,
    program: slot,
    required: layerNames,
  });
  const [file, ...args] = [
    ...(user === undefined ? [] : asUser(user)),
    ...(isSandboxed ? sandboxCommand({ ...policy, descriptors: [] }) : []),
    process.execPath,
    path.join(slot, "app/main.mjs"),
    slot,
    secret,
    String(process.pid),
    name,
  ];
  const { stdout } = await promisify(execFile)(file, args, { cwd: slot, timeout: 20_000 }).catch((error: { stdout: string }) => error);
  return JSON.parse(stdout.trim().split("\n").at(-1) || '{ "code": "DIED" }') as { got?: string; code?: string };
}

const names = [...attacker.matchAll(/^ {2}"([^"]+)": \(/gm)].map(([, name]) => name as string);

describe.each(daemonUsers)("a sandboxed process without Node's permission model (user: %s)", (_, { uid }) => {
  test("runs on a kernel that supports Landlock and seccomp", async () => {
    const { landlock, seccomp } = await probeKernelLayers();
    expect([landlock.isActive, seccomp.isActive]).toEqual([true, true]);
    // Allowed actions work, so the attempts below do not fail for another reason.
    expect(Number((await attempt("control", uid, true)).got)).toBeGreaterThan(0);
  });

  test.each(names)("cannot bypass the kernel layers (attempt: %s)", async (name) => {
    const { got } = await attempt(name, uid, true);
    expect(got).toBeUndefined();
    expect(await readFile(secret, "utf8")).toBe(secretText);
    expect((await stat(secret)).mode & 0o777).toBe(0o666);
    await expect(stat("/tmp/made-by-an-attacker")).rejects.toThrow("ENOENT");
    expect(await readFile(path.join(directory, "main.mjs"), "utf8")).toBe(attacker);
  });
});

test("a program without any sandbox layer can read files and open ports", async () => {
  for (const name of [
    "reads /etc/passwd",
    "reads a foreign file",
    "reads the parent of its sandbox folder",
    "listens on a port",
    "listens on ::1",
  ])
    expect((await attempt(name, undefined, false)).got, name).toBeDefined();
  await attempt("opens a file through flags of V8", undefined, false);
  expect(await readFile(secret, "utf8")).not.toBe(secretText);
});

test("Node's permission model alone denies file access, programs and listening", async () => {
  const server = await WorkerServer.start({ kernelLayers: Promise.resolve(noLayers("left out by a test")) });
  try {
    await server.add("app", {
      files: {
        "index.mjs": `
          import fs from "node:fs"; import { execFileSync } from "node:child_process"; import net from "node:net"; import v8 from "node:v8"; import { DatabaseSync } from "node:sqlite"; import { createRequire } from "node:module";
          const codeOf = (act) => { try { act(); return "done"; } catch (error) { return error.code ?? "thrown"; } };
          export default { fetch: () => Response.json([
            codeOf(() => fs.readFileSync("/etc/passwd")), codeOf(() => fs.writeFileSync("/tmp/x-of-a-test", "")),
            codeOf(() => execFileSync("/bin/true")), codeOf(() => net.createServer().listen("/tmp/x-of-a-test")), codeOf(() => v8.setFlagsFromString("--trace-opt")),
            codeOf(() => new DatabaseSync(":memory:").exec("ATTACH '/tmp/x-of-a-test' AS other")),
            codeOf(() => new (createRequire(import.meta.url)("node:sqlite").DatabaseSync)("/tmp/x-of-a-test")),
          ]) };`,
      },
      manifest: { entrypoint: "index.mjs" },
    });
    const codes = (await (await fetch(`${server.url}/app/`)).json()) as string[];
    expect(codes).toEqual(["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "EACCES", "thrown", "thrown", "thrown"]);
  } finally {
    await server.stop();
  }
});
