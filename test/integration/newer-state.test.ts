import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../support/connect.js";
import { runProgram } from "../support/run-program.js";
import { daemonProgram, startDaemon } from "../support/start-daemon.js";

const units = ["runtimed.service", "user/runtimed.service"].map((name) =>
  fileURLToPath(new URL(`../../builtin/systemd/${name}`, import.meta.url)),
);

function setSchema(file: string, schema: number): void {
  const database = new Database(file);
  database.pragma(`user_version = ${schema}`);
  database.close();
}

test("runtimed exits with 78 and changes nothing when the key store has a newer schema", async () => {
  const daemon = await startDaemon();
  onTestFinished(daemon.dispose);
  const { data } = await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "kept", role: "viewer" } });
  await daemon.stop();
  const state = path.join(daemon.directory, "state");
  const file = path.join(state, "keys.db");
  setSchema(file, 99);
  const before = await readFile(file);

  const { code, stderr } = await runProgram([daemonProgram], {
    cwd: daemon.directory,
    env: { HOST: "127.0.0.1", PORT: "0", RUNTIME_STATE_DIR: state },
  });

  expect(code).toBe(78);
  expect(stderr).toBe(
    `runtimed: The key store ${file} has schema 99, and this runtimed supports schemas up to 2: ` +
      "upgrade runtimed, or restore an older backup with runtimectl daemon restore FILE.\n",
  );
  expect((await readFile(file)).equals(before)).toBe(true);
  expect((await readdir(state)).filter((name) => name.includes("backup"))).toEqual([]);
  setSchema(file, 2);
  const next = await startDaemon({ directory: daemon.directory });
  onTestFinished(next.dispose);
  expect((await connect(next.url, data.key).keys.list()).keys).toMatchObject([{ id: data.id }]);
});

test.each(units)("the systemd unit file %s prevents a restart after exit code 78", async (unit) => {
  expect((await readFile(unit, "utf8")).split("\n")).toContain("RestartPreventExitStatus=78");
});
