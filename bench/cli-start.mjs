// How long runtimectl takes from start to end, against an empty Node: alternating rounds, medians.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const name = "runtimectl start-up";

const rounds = 41;
const program = fileURLToPath(new URL("../bin/runtimectl.js", import.meta.url));
const daemonProgram = fileURLToPath(new URL("../bin/runtimed.js", import.meta.url));

export async function run() {
  const directory = await mkdtemp(path.join(tmpdir(), "cli-start-"));
  const daemon = await startDaemon(directory);
  try {
    const env = { PATH: process.env.PATH, RUNTIMECTL_CONFIG_DIR: path.join(directory, "config") };
    login(env, daemon);
    const empty = () => timeMs(["-e", "0"], env);
    const work = {
      "runtimectl --help": ["--help"],
      "runtimectl workers list": ["workers", "list"],
    };
    // The ratio within a round: what slows the machine down for a while slows both.
    const ratios = Object.fromEntries(Object.keys(work).map((title) => [title, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [title, args] of Object.entries(work)) {
        const emptyMs = empty();
        ratios[title].push(timeMs([program, ...args], env) / emptyMs);
      }
    }
    const row = (title, target) => ({ work: title, against: "node -e 0", ratio: median(ratios[title]), target });
    return {
      rows: [row("runtimectl --help", "≤ 1.3 ×"), row("runtimectl workers list", "≤ 2 ×")],
    };
  } finally {
    daemon.child.kill("SIGTERM");
    await once(daemon.child, "exit");
    await rm(directory, { recursive: true, force: true });
  }
}

function timeMs(args, env) {
  const startedAtMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - startedAtMs;
}

function median(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
}

async function startDaemon(directory) {
  const rootKey = "root-key-of-the-bench";
  const env = {
    PATH: process.env.PATH,
    HOST: "127.0.0.1",
    PORT: "0",
    RUNTIME_ROOT_KEY: rootKey,
    RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
    RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
    RUNTIME_STATE_DIR: path.join(directory, "state"),
  };
  const child = spawn(process.execPath, [daemonProgram], { cwd: directory, env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    const url = /"address":"(http:[^"]+)"/.exec(output)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url, rootKey };
  }
  throw new Error(`the daemon did not start: ${output}`);
}

function login(env, { url, rootKey }) {
  const { status, stderr } = spawnSync(process.execPath, [program, "auth", "login", "--url", url, "--key-stdin"], {
    env,
    input: rootKey,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`login failed: ${stderr}`);
}
