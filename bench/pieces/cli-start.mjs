import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";

export const name = "command line";

const program = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));
const commands = [
  { work: "runtimectl --help", args: ["--help"], target: { atMost: 1.3 } },
  { work: "runtimectl workers list", args: ["workers", "list"], target: { atMost: 2 } },
];

/** How long runtimectl takes from start to end, against an empty Node. */
export async function run(stage) {
  const daemon = await startDaemon(stage);
  const env = { PATH: process.env.PATH, RUNTIMECTL_CONFIG_DIR: path.join(daemon.directory, "config") };
  node([program, "auth", "login", "--url", daemon.url, "--key-stdin"], env, daemon.rootKey);
  const rows = [];
  for (const { args, ...row } of commands) rows.push(await compareStart(stage, { row, args, env }));
  return rows;
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

/** Synchronous: an event loop between the end of a process and the clock would count too. */
function node(args, env, input) {
  const { status, stderr } = spawnSync(process.execPath, args, { env, input, encoding: "utf8", timeout: 30_000 });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
}
