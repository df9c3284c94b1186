import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { askStorage, storageWorker } from "../support/storage-worker.js";
import { uploadWorker } from "../support/upload-worker.js";

const secret = "SECRET-OF-A-NEIGHBOR";

/** Runs a shell command in its data folder. Responds with the exit code and the output. */
const attacker = `
import { spawnSync } from "node:child_process";
export default { async fetch(request, env) {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", await request.text()], { cwd: env.DATA_DIR, encoding: "utf8" });
  return Response.json({ status, output: String(stdout) + String(stderr) });
} };`;

describe.each(daemonUsers)("a worker that runs programs and has a data folder (daemon user: %s)", (_, user) => {
  let daemon: TestDaemon;
  let client: Client;
  let folder: string;
  const run = async (command: string): Promise<{ status: number; output: string }> => {
    const response = await fetch(`${daemon.url}/attacker/`, { method: "POST", body: command });
    return (await response.json()) as { status: number; output: string };
  };

  beforeAll(async () => {
    daemon = await startDaemon({ ...user, env: { RUNTIME_WORKER_PERMISSIONS: "network,child-process" } });
    client = connect(daemon.url, daemon.rootKey);
    const type = { "package.json": '{"type":"module"}' };
    await uploadWorker(client, "neighbor", { "index.js": storageWorker, ...type }, "data: 10mb\n");
    await uploadWorker(client, "attacker", { "index.js": attacker, ...type }, "data: 10mb\npermissions: [child-process]\n");
    await askStorage(`${daemon.url}/neighbor/`, "write", { name: "file", text: secret });
    folder = path.join(daemon.directory, "data/neighbor");
  });
  afterAll(() => daemon.dispose());

  it("can run programs that write to its own data folder", async () => {
    expect(await run("echo own > own && cat own")).toEqual({ status: 0, output: "own\n" });
  });

  const attacks = [
    "cat FOLDER/file",
    "ls FOLDER",
    "ls FOLDER/..",
    "ln -s FOLDER link && cat link/file",
    "ln -s FOLDER/file link-to-file && cat link-to-file",
    "ln FOLDER/file hard-link && cat hard-link",
    "cp FOLDER/file copy && cat copy",
    "mv FOLDER moved && cat moved/file",
    "echo changed > FOLDER/file",
    "echo new > FOLDER/new",
    "rm FOLDER/file",
    "chmod -R 777 FOLDER && cat FOLDER/file",
    "touch FOLDER/touched",
    "for root in /proc/*/root; do cat $root/FOLDER/file && exit 0; done; exit 1",
    "for cwd in /proc/*/cwd; do ls $cwd/../../data/neighbor && exit 0; done; exit 1",
  ];
  it.each(attacks)("cannot access the data folder of another worker (shell command: %s)", async (command) => {
    const { status, output } = await run(command.replaceAll("FOLDER", folder));
    expect(status).not.toBe(0);
    expect(output).not.toContain(secret);
    expect(await askStorage(`${daemon.url}/neighbor/`, "read", { name: "file" })).toEqual({ result: secret });
    expect(await askStorage(`${daemon.url}/neighbor/`, "list")).toEqual({ result: ["file"] });
  });

  it("cannot include a file of another worker in the download of its data folder", async () => {
    await run(`ln -s ${folder} linked-folder; ln -s ${folder}/file linked-file`);
    const response = await fetch(`${daemon.url}/api/workers/_/attacker/data`, { headers: { "X-API-Key": daemon.rootKey } });
    expect(response.status).toBe(200);
    const zip = Buffer.from(await response.arrayBuffer());
    expect(zip.includes("own")).toBe(true);
    expect(zip.includes("linked-f")).toBe(false);
  });

  it("cannot block the download of its data folder by making files unreadable", async () => {
    await run("umask 777; echo hidden > unreadable; mkdir closed-folder");
    const response = await fetch(`${daemon.url}/api/workers/_/attacker/data`, { headers: { "X-API-Key": daemon.rootKey } });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).includes("unreadable")).toBe(true);
  });

  it("loses its symbolic links, but not the link targets, when the folder is deleted", async () => {
    const outside = path.join(daemon.directory, "outside");
    await mkdir(outside, { recursive: true });
    await writeFile(path.join(outside, "file"), "outside");
    await run(`ln -s ${outside} outside; mkdir -m 000 closed`);
    await client.data.remove({ params: { scope: "_", name: "attacker" } });
    expect(await run("ls -A")).toEqual({ status: 0, output: "" });
    expect(await run(`cat ${outside}/file`)).not.toMatchObject({ status: 0 });
    expect(await askStorage(`${daemon.url}/neighbor/`, "read", { name: "file" })).toEqual({ result: secret });
  });
});
