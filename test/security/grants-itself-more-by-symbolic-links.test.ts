import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Runs a shell command. */
const attacker = `
import { spawnSync } from "node:child_process";
export default { fetch: (request) => new Response(spawnSync("/bin/sh", ["-c", new URL(request.url).searchParams.get("run")]).stdout) };`;

describe.each(daemonUsers)("a worker that runs programs and has a permitted folder (daemon user: %s)", (_, user) => {
  let daemon: TestDaemon;
  let directory: string;
  let granted: string;
  let foreign: string;

  const upload = async (...permissions: string[]): Promise<void> => {
    await uploadWorker(
      connect(daemon.url, daemon.rootKey),
      "attacker",
      { "index.js": attacker, "package.json": '{"type":"module"}' },
      `permissions: ${JSON.stringify(["child-process", ...permissions])}\n`,
    );
  };
  const run = async (command: string): Promise<Response> =>
    fetch(`${daemon.url}/attacker/?${new URLSearchParams({ run: command }).toString()}`);

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(path.join(tmpdir(), "granted-")));
    await chmod(directory, 0o711);
    granted = path.join(directory, "granted");
    foreign = path.join(directory, "foreign");
    await mkdir(foreign);
    await mkdir(granted);
    await writeFile(path.join(foreign, "secret"), "a secret");
    for (const folder of [granted, foreign, path.join(foreign, "secret")])
      if (user.uid !== undefined) await chown(folder, user.uid, user.uid);
    daemon = await startDaemon({
      ...user,
      env: { RUNTIME_WORKER_PERMISSIONS: `network,child-process,fs-read:${granted},fs-write:${granted}` },
    });
    await upload(`fs-write:${granted}/own`);
    // The folder was created and belongs to the isolate.
    expect(await (await run(`cd ${granted}/own && ln -s ${foreign} link && ln -s /proc/self/ns/net rule && echo linked`)).text()).toBe(
      "linked\n",
    );
  });
  afterAll(async () => {
    await daemon.dispose();
    await rm(directory, { recursive: true, force: true });
  });

  test.each([
    ["read the target of its own link", "fs-read", "own/link"],
    ["write to the target of its own link", "fs-write", "own/link"],
    ["create a folder in the target of its own link", "fs-write", "own/link/made"],
    ["request a file for which the kernel accepts no rule", "fs-read", "own/rule"],
  ])("cannot reach files outside of the permitted folder by a link (attempt: %s)", async (_what, kind, name) => {
    await upload(`${kind}:${granted}/${name}`);
    const response = await run(`cat ${foreign}/secret; echo changed > ${foreign}/secret; cat /proc/${daemon.process.pid}/environ`);
    expect(response.status).toBe(502);
    expect(await response.text()).toContain("symbolic link");
    expect(await readdir(foreign)).toEqual(["secret"]);
    expect(await readFile(path.join(foreign, "secret"), "utf8")).toBe("a secret");
  });
});
