import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { listenForNotes } from "../support/notify-listener.js";
import { startDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { writeTree } from "../support/write-tree.js";
import { runTool } from "./run-tool.js";

const program = fileURLToPath(new URL("../../bin/runtimed.js", import.meta.url));

test("runtimed starts and responds after systemd-socket-activate accepts a connection", async () => {
  await runTool("systemd-socket-activate", "--version");
  const directory = await temporaryDirectory();
  const port = 20_000 + (process.pid % 10_000);
  const environment = Object.entries({
    RUNTIME_ROOT_KEY: "key",
    RUNTIME_STATE_DIR: path.join(directory, "state"),
    RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
    RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
  }).flatMap(([name, value]) => ["--setenv", `${name}=${value}`]);
  const child = spawn("systemd-socket-activate", ["--listen", `127.0.0.1:${port}`, ...environment, process.execPath, program], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output).toContain("Listening on");

  expect((await fetch(`http://127.0.0.1:${port}/api/health/ready`)).status).toBe(200);

  expect(output).toContain(`"address":"http://127.0.0.1:${port}"`);
});

test("without koffi, runtimed runs systemd-notify and logs the hint NotifyAccess=all", async () => {
  const directory = await temporaryDirectory();
  await writeTree(directory, {
    "hooks.mjs":
      'export const resolve = (name, context, next) => (name === "koffi" ? Promise.reject(new Error("no koffi")) : next(name, context));',
    "without-koffi.mjs": 'import { register } from "node:module"; register("./hooks.mjs", import.meta.url);',
  });
  const address = path.join(directory, "notify");
  const manager = await listenForNotes(address);
  const daemon = await startDaemon({
    env: { NOTIFY_SOCKET: address, NODE_OPTIONS: `--import=${path.join(directory, "without-koffi.mjs")}` },
  });
  onTestFinished(daemon.dispose);
  await expect.poll(() => manager.withLine("READY=1")).toHaveLength(1);

  expect(await daemon.stop()).toBe(0);

  await expect.poll(() => manager.withLine("STOPPING=1")).toHaveLength(1);
  expect(manager.notes[0]).toMatch(/^READY=1\nSTATUS=serving/);
  expect(daemon.output()).toContain("set NotifyAccess=all");
});
