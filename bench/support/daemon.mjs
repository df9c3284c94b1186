import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { profileFlags, waitForOutput } from "./server.mjs";

const program = fileURLToPath(new URL("../../bin/runtimed.js", import.meta.url));
const rootKey = "root-key-of-the-bench";

/**
 * Starts the real program with its defaults, on a free port and in its own folder. `workers` maps a name to `{ files: { "index.js": source
 * }, manifest }`. `plugins` does the same with `plugin.mjs`.
 */
export async function startDaemon(stage, { workers = {}, plugins = {}, directory, env = {}, nodeFlags = [], startTimeoutMs } = {}) {
  const home = directory ?? (await stage.temporaryDirectory());
  const workersDirectory = path.join(home, "workers");
  await mkdir(home, { recursive: true });
  for (const [name, worker] of Object.entries(workers)) await writePackage(path.join(workersDirectory, name, "1.0.0"), name, worker);
  const pluginsDirectory = path.join(home, "plugins");
  for (const [name, plugin] of Object.entries(plugins)) await writePackage(path.join(pluginsDirectory, name), name, plugin);
  const startedAtMs = performance.now();
  const child = stage.spawn(process.execPath, [...nodeFlags, ...profileFlags(stage, "daemon"), program], {
    cwd: home,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      HOST: "127.0.0.1",
      PORT: "0",
      RUNTIME_ROOT_KEY: rootKey,
      RUNTIME_WORKER_DIRS: workersDirectory,
      RUNTIME_PLUGIN_DIRS: pluginsDirectory,
      RUNTIME_STATE_DIR: path.join(home, "state"),
      ...env,
    },
  });
  const url = await waitForOutput(child, /"address":"(http:[^"]+)"/, "the daemon", startTimeoutMs);
  return {
    url,
    pid: child.pid,
    child,
    directory: home,
    rootKey,
    /** Time from the start of the process until the daemon listens. */
    startMs: performance.now() - startedAtMs,
    headers: { "x-api-key": rootKey, "x-runtime-internal": "true" },
    stop: () => stage.end(child),
  };
}

/** Writes a package into a directory in which the daemon searches packages. */
export async function writePackage(folder, name, { files, manifest = {} }) {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "manifest.yaml"), yamlOf({ name, version: "1.0.0", ...manifest }));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
}

/** Returns the YAML text of a manifest, with one line per key. */
function yamlOf(manifest) {
  return Object.entries(manifest)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");
}
