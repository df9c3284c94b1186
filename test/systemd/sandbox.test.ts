import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { deniedCalls } from "./denied-calls.js";

const unit = fileURLToPath(new URL("../../builtin/systemd/runtimed.service", import.meta.url));
const program = fileURLToPath(new URL("../../bin/runtimed.js", import.meta.url));
const rootKey = "root-key-of-a-test";
/** User id of `nobody`. */
const userId = 65_534;

/** Creates a state directory like that of a service with DynamicUser: a link to a folder of the user. */
async function stateDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  await chmod(directory, 0o755);
  const [real, link] = [path.join(directory, "private"), path.join(directory, "runtimed")];
  await mkdir(real, { mode: 0o700 });
  if (process.getuid?.() === 0) await chown(real, userId, userId);
  await symlink("private", link);
  return link;
}

test("the daemon needs no system call that its systemd unit denies", async () => {
  const calls = (await deniedCalls(unit)).map((call) => `?${call}`).join(",");
  const directory = await stateDirectory();
  const strace = [
    "strace",
    "--follow-forks",
    "--seccomp-bpf",
    "-qqq",
    "-o",
    "/dev/null",
    `--trace=${calls}`,
    `--inject=${calls}:error=EPERM`,
  ];
  const withoutRights = process.getuid?.() === 0 ? [`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups", "--bounding-set=-all"] : [];
  const child = spawn("setpriv", [...withoutRights, "--no-new-privs", ...strace, process.execPath, program], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      PORT: "0",
      RUNTIME_ROOT_KEY: rootKey,
      RUNTIME_STATE_DIR: path.join(directory, "state"),
      RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
      RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
    },
  });
  // strace exits with the traced process. If strace is killed, the traced process is killed too.
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 30_000 }).toMatch(/"address":"http:/);
  const url = /"address":"(http:[^"]+)"/.exec(output)?.[1] ?? "";
  const { workers, plugins, keys } = connect(url, rootKey);

  const worker = {
    "manifest.yaml": manifestOf("app", "1.0.0"),
    "index.ts": "export default { fetch: () => new Response('app' as string) };",
  };
  await workers.upload({ file: uploadOf("app.tgz", await packFiles(worker)) });
  const plugin = {
    "manifest.yaml": "name: teller\nversion: 1.0.0\nbase: /teller\n",
    "plugin.js": "export default { routes: { fetch: () => new Response('plugin') } };",
  };
  await plugins.upload({ file: uploadOf("teller.tgz", await packFiles(plugin)) });
  await keys.create({ body: { name: "a key", role: "viewer" } });

  expect(await (await fetch(`${url}/app/`)).text()).toBe("app");
  expect(await (await fetch(`${url}/teller`)).text()).toBe("plugin");
  await workers.remove({ params: { scope: "_", name: "app" } });
  const exited = once(child, "exit");
  const pid = Number(/"pid":(\d+)/.exec(output)?.[1]);
  process.kill(pid, "SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(output).not.toMatch(/EPERM|"level":(?:[56]0)/);
});
