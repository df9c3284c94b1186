import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";

export const name = "command line";

const program = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));
const commands = [
  { work: "runtimectl --help", args: ["--help"], target: { atMost: 1.3 } },
  { work: "runtimectl workers list", args: ["workers", "list"], target: { atMost: 2.5 } },
];

/** Measures the time from start to exit of runtimectl, and of a Node.js process without a program. */
export async function run(stage) {
  const daemon = await startDaemon(stage);
  const env = { PATH: process.env.PATH, RUNTIMECTL_CONFIG_DIR: path.join(daemon.directory, "config") };
  node([program, "auth", "login", "--url", daemon.url, "--key-stdin"], env, daemon.rootKey);
  const rows = [];
  for (const { args, ...row } of commands) rows.push(await compareStart(stage, { row, args, env }));
  rows.push(await compareFirstFrame(stage, env));
  return rows;
}

/**
 * Measures the time until a pseudo-terminal shows the first frame of the dashboard. The Node.js process without a program also runs in a
 * pseudo-terminal.
 */
async function compareFirstFrame(stage, env) {
  const { ours, theirs } = await alternate(stage.settings.isQuick ? 5 : 21, {
    theirs: () => untilShown("-e 0", env),
    ours: () => untilShown(`${program} tui`, env, "Overview"),
  });
  return durationRow({ work: "runtimectl tui, first frame", target: { atMost: 5 }, against: "node -e 0" }, ours, theirs);
}

/** Returns the time until a program in a pseudo-terminal shows the text. Without a text, returns the time until the program exits. */
function untilShown(words, env, text) {
  const startedAtMs = performance.now();
  const line = `stty rows 24 cols 80; exec ${process.execPath} ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], { env: { ...env, TERM: "xterm" } });
  return new Promise((resolve) => {
    let shown = "";
    let elapsedMs;
    child.stdout.on("data", (chunk) => {
      shown += chunk;
      if (text === undefined || elapsedMs !== undefined || !shown.includes(text)) return;
      elapsedMs = performance.now() - startedAtMs;
      child.stdin.write("q");
    });
    child.once("close", () => resolve(elapsedMs ?? performance.now() - startedAtMs));
  });
}

async function compareStart(stage, { row, args, env }) {
  const { ours, theirs } = await alternate(stage.settings.isQuick ? 5 : 41, {
    theirs: () => timeMs(() => node(["-e", "0"], env)),
    ours: () => timeMs(() => node([program, ...args], env)),
  });
  return durationRow({ ...row, against: "node -e 0" }, ours, theirs);
}

function timeMs(action) {
  const startedAtMs = performance.now();
  action();
  return performance.now() - startedAtMs;
}

/** Runs the program synchronously, because the event loop would add time between the exit of the program and the measurement. */
function node(args, env, input) {
  const { status, stderr } = spawnSync(process.execPath, args, { env, input, encoding: "utf8", timeout: 30_000 });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
}
