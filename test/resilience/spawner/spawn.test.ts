import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { spawnProcess, type SpawnedProcess } from "../../../src/server/platform/spawner/spawner.js";
import { childProcessesOf, commandOf } from "../../support/child-processes.js";
import { whileHeldUp } from "../../support/hold-up.js";

const subject = fileURLToPath(new URL("spawn-subject.mjs", import.meta.url));
const isSpawner = (id: number) => commandOf(id).includes("spawner/main.js");
const spawner = () => childProcessesOf(process.pid).find(isSpawner) as number;
/** Socket to which spawned processes connect. */
const socketPath = () => commandOf(spawner()).split(" ").at(-1) as string;

async function start(script: string, descriptors: readonly number[]): Promise<SpawnedProcess> {
  const spawned = await spawnProcess({
    file: process.execPath,
    args: ["-e", script],
    workingDirectory: realpathSync(tmpdir()),
    descriptors,
  });
  onTestFinished(async () => {
    spawned.kill();
    await spawned.ended;
  });
  return spawned;
}

async function textOf(spawned: SpawnedProcess, descriptor: number): Promise<string> {
  let text = "";
  for await (const piece of spawned.sockets.get(descriptor) as Socket) text += String(piece);
  return text;
}

describe("a process that the spawner starts", () => {
  test("receives the passed sockets, an empty environment and its own working directory", async () => {
    const say = "process.stdout.write(JSON.stringify([Object.keys(process.env), process.cwd()]))";
    const hear = `require("net").Socket({ fd: 3 }).pipe(process.stderr)`;
    const spawned = await start(`${say}; ${hear}`, [1, 2, 3]);

    spawned.sockets.get(3)?.end("to and fro");

    expect(JSON.parse(await textOf(spawned, 1))).toEqual([[], realpathSync(tmpdir())]);
    expect(await textOf(spawned, 2)).toBe("to and fro");
    expect(await spawned.closed).toEqual({ status: 0, signal: null });
  });

  test("delivers its first output even if the caller reads late", async () => {
    const spawned = await start(`process.stdout.write("early")`, [1]);
    await spawned.ended;
    expect(await textOf(spawned, 1)).toBe("early");
  });

  test("starts even if the spawn timeout expires while the caller is blocked", async () => {
    const spawned = await whileHeldUp(1100, () => start(`process.stdout.write("late")`, [1]));
    expect(await textOf(spawned, 1)).toBe("late");
  });

  test("starts among 50 other processes even if the caller is often blocked", async () => {
    const order = { file: "/bin/sh", args: ["-c", ":"], workingDirectory: "/", descriptors: [1, 2, 3] };
    const crowd = await whileHeldUp(20, () => Promise.allSettled(Array.from({ length: 50 }, () => spawnProcess(order))));
    for (const { status } of crowd) expect(status).toBe("fulfilled");
  });

  test("reports its exit status or its signal to the caller", async () => {
    const exiting = await start("process.exit(7)", []);
    const endless = await start("for (;;);", []);
    endless.kill();
    expect(await exiting.ended).toEqual({ status: 7, signal: null });
    expect(await endless.ended).toEqual({ status: null, signal: "SIGKILL" });
    expect(existsSync(`/proc/${endless.pid}`)).toBe(false);
  });

  test("causes an error when its program does not exist, and other processes start", async () => {
    const open = readdirSync("/proc/self/fd").length;
    const spawns = Array.from({ length: 5 }, () =>
      spawnProcess({ file: "/no/such/program", args: [], workingDirectory: "/", descriptors: [1, 2] }),
    );
    for (const refused of spawns) await expect(refused).rejects.toThrow("ENOENT");
    const spawned = await start(`process.stdout.write("well")`, [1]);
    expect(await textOf(spawned, 1)).toBe("well");
    await spawned.closed;
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(open);
  });

  test("is not affected by a connection that sends a wrong random ID", async () => {
    const spawned = await start(`process.stdin.pipe(process.stdout)`, [0, 1]);
    const stranger = connect(socketPath());
    onTestFinished(() => void stranger.destroy());
    stranger.on("error", () => undefined);
    await once(stranger, "connect");

    stranger.write(`${"0".repeat(32)}1`);

    await once(stranger, "close");
    spawned.sockets.get(0)?.end("ours");
    expect(await textOf(spawned, 1)).toBe("ours");
  });

  test("starts after the folder of the spawner's socket was deleted", async () => {
    const before = await start("setInterval(() => {}, 1e6)", [1]);
    await rm(path.dirname(socketPath()), { recursive: true });
    const spawned = await start(`process.stdout.write("well")`, [1]);
    expect(await textOf(spawned, 1)).toBe("well");
    expect(existsSync(`/proc/${before.pid}`)).toBe(true);
  });

  test("is killed together with its spawner, and the next process uses a new spawner", async () => {
    const spawned = await start("for (;;);", [1]);
    const killed = spawner();
    process.kill(killed, "SIGKILL");

    expect(await spawned.ended).toEqual({ status: null, signal: "SIGKILL" });
    await expect.poll(() => existsSync(`/proc/${spawned.pid}`)).toBe(false);
    const next = await start(`process.stdout.write("well")`, [1]);
    expect(await textOf(next, 1)).toBe("well");
    expect(spawner()).not.toBe(killed);
  });
});

describe("a program that uses the spawner", () => {
  test("exits when its spawned process has ended", async () => {
    const { child, directory } = await startSubject("end");
    const [status] = (await once(child, "exit")) as [number];
    expect(status).toBe(0);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  test("leaves no process, spawner or file when the program is killed", async () => {
    const { child, sleeper, directory } = await startSubject("wait");
    const [itsSpawner] = childProcessesOf(child.pid as number).filter(isSpawner);
    expect(readdirSync(directory)).toHaveLength(1);

    child.kill("SIGKILL");

    await expect.poll(() => [sleeper, itsSpawner].filter((id) => existsSync(`/proc/${id}`))).toEqual([]);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  test("leaves no file when the program is killed before the spawner is ready", async () => {
    const { child, directory } = await startSubject("start");
    await expect.poll(() => childProcessesOf(child.pid as number).filter(isSpawner), { interval: 1 }).toHaveLength(1);

    child.kill("SIGKILL");

    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  test("receives EMFILE without free file descriptors, and can start processes later", async () => {
    const { child, directory, said } = await startSubject("fill");
    const [status] = (await once(child, "close")) as [number];
    expect(said()).toMatch(/^\d+\nEMFILE: no socket to the process could be opened\n$/);
    expect(status).toBe(0);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });
});

/** Resolves when the subject has printed the pid of its process. With `start`, the subject prints a text before it spawns. */
async function startSubject(manner: "start" | "wait" | "end" | "fill") {
  const directory = await mkdtemp(path.join(tmpdir(), "spawn-"));
  const command = 'ulimit -n 100 && exec "$@"';
  const child = spawn("sh", ["-c", command, "sh", process.execPath, subject, manner], {
    env: { TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await once(child.stdout, "data");
  return { child, directory, sleeper: Number.parseInt(text, 10), said: () => text };
}
