import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const startTimeoutMs = 60_000;
const peersDirectory = fileURLToPath(new URL("../peers/", import.meta.url));

/** Starts a server in its own process. The server must write `listening PORT` to stdout when it is ready. */
export async function startServer(stage, command, args, { readyPattern = /^listening (\d+)$/m, ...options } = {}) {
  const child = stage.spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  const port = await waitForOutput(child, readyPattern, args.join(" "));
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => stage.end(child) };
}

/** Starts the Node.js program bench/peers/FILE. */
export async function startPeer(stage, file, ...args) {
  return await startServer(stage, process.execPath, [
    ...profileFlags(stage, `peer-${path.parse(file).name}`),
    path.join(peersDirectory, file),
    ...args,
  ]);
}

/** Waits until the stdout of a child process matches the pattern. Returns the first group of the match. */
export async function waitForOutput(child, pattern, title, timeoutMs = startTimeoutMs) {
  let output = "";
  return await new Promise((resolve, reject) => {
    const fail = (reason) => reject(new Error(`${title} ${reason}\n${output}`));
    const timer = setTimeout(() => fail(`was not ready within ${timeoutMs} ms`), timeoutMs);
    const read = (chunk) => {
      output += chunk;
      const found = pattern.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      child.stdout.off("data", read);
      child.stdout.resume();
      resolve(found);
    };
    child.stdout.on("data", read);
    child.once("error", (error) => {
      clearTimeout(timer);
      fail(`cannot be started: ${error.message}`);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
}

/** Waits until a URL of a child process has a successful response. */
export async function waitForResponse(child, url, title) {
  const deadlineMs = performance.now() + startTimeoutMs;
  const isReady = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > deadlineMs) throw new Error(`${title} does not answer`);
    await delay(20);
  }
}

export function profileFlags(stage, name) {
  const directory = stage.settings.profileDirectory;
  return directory === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${directory}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`];
}
