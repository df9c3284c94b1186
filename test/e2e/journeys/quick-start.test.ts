import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSender } from "../../support/send.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const parts = ["bin", "dist", "samples", "package.json"];

let home: string;
const running: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "quick-start-"));
  for (const part of parts) await cp(path.join(root, part), path.join(home, "clone", part), { recursive: true });
  await symlink(path.join(root, "node_modules"), path.join(home, "clone", "node_modules"));
});

afterEach(async () => {
  await stop();
  await rm(home, { recursive: true, force: true });
});

async function stop(): Promise<void> {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

/** Runs the part of `npm start` that follows the build, until it has printed the next steps; returns the origin that they name. */
async function quickStart(more: Record<string, string> = {}): Promise<{ url: string; output: string }> {
  const env = { PATH: process.env["PATH"] ?? "", PORT: "0", RUNTIMECTL_CONFIG_DIR: path.join(home, "config"), ...more };
  const child = spawn(process.execPath, [path.join(home, "clone/dist/server/quick-start.js")], {
    env,
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  let output = "";
  return await new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /runtimed serves at (http:\S+);/.exec(output)?.[1];
      if (url !== undefined && output.includes("first-worker")) resolve({ url, output });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`the quick start ended with ${code}:\n${output}`)));
  });
}

/** Returns the status of a request with this Host header. */
async function statusFor(url: string, host: string): Promise<number> {
  const send = createSender(url);
  return (await send({ path: "/hello/", headers: { host } }).finally(() => send.close())).status;
}

test("`npm start` creates key, profile and sample worker only at the first start", async () => {
  const first = await quickStart();
  expect(await (await fetch(`${first.url}/hello/?name=you`)).text()).toBe("Hello, you!\n");
  const keyFile = path.join(home, "clone/.runtime/root.key");
  const key = (await readFile(keyFile, "utf8")).trim();
  expect(key.length).toBeGreaterThanOrEqual(43);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  expect(first.output).not.toContain(key);
  expect(first.output).toContain(`Control panel  ${first.url}/cpanel/\n`);
  expect(first.output).toContain("Root key       .runtime/root.key (show it: cat '.runtime/root.key')");
  const headers = { "x-api-key": key };
  expect(await statusFor(first.url, "rebound.example"), "a name that is not this machine's").toBe(421);
  expect(await statusFor(first.url, "localhost")).toBe(200);
  expect(await statusFor(first.url, "hello.localhost"), "the sample at its host name has no page /hello/").toBe(200);
  expect(await statusFor(first.url, "panel.localhost"), "no worker has this host name").toBe(404);
  const workers = (await (await fetch(`${first.url}/api/workers`, { headers })).json()) as { name: string }[];
  expect(workers.map(({ name }) => name)).toContain("hello");
  expect((await fetch(`${first.url}/api/workers/_/hello`, { method: "DELETE", headers })).status).toBe(200);
  await stop();

  const second = await quickStart();
  expect((await readFile(keyFile, "utf8")).trim()).toBe(key);
  expect((await fetch(`${second.url}/hello/`)).status, "the sample is put in on the very first run only").toBe(404);
  const status = spawn(process.execPath, [path.join(home, "clone/bin/runtimectl.js"), "status", "--json"], {
    env: { PATH: process.env["PATH"] ?? "", RUNTIMECTL_CONFIG_DIR: path.join(home, "config") },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const [code] = (await once(status, "exit")) as [number];
  expect(code, "the saved profile reaches the daemon without any flag").toBe(0);
});

test("`npm start` serves the sample worker again with a new state directory", async () => {
  await quickStart();
  await stop();

  const second = await quickStart({ RUNTIME_STATE_DIR: ".runtime/state-8001" });

  expect(await (await fetch(`${second.url}/hello/?name=you`)).text()).toBe("Hello, you!\n");
});
