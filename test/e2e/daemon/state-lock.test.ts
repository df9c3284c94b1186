import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { StateLock } from "../../../src/server/access/state-lock.js";
import { connect } from "../../support/connect.js";
import { runProgram } from "../../support/run-program.js";
import { startDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

test("a state directory can be locked only once, and again after its release", async () => {
  const directory = await temporaryDirectory();
  const lock = new StateLock(directory);

  expect(() => new StateLock(directory)).toThrow(`Another runtimed uses the state directory ${directory}`);

  lock.release();
  new StateLock(directory).release();
});

test("a second daemon exits with 1 when another daemon uses its state directory", async () => {
  const first = await startDaemon();
  onTestFinished(first.dispose);
  const stateDirectory = path.join(first.directory, "state");
  const keys = await readFile(path.join(stateDirectory, "keys.db"));

  const { code, stderr } = await runProgram([fileURLToPath(new URL("../../../bin/runtimed.js", import.meta.url))], {
    cwd: first.directory,
    env: { PORT: "0", RUNTIME_STATE_DIR: stateDirectory },
  });

  expect(code).toBe(1);
  expect(stderr).toMatch(/^runtimed: Another runtimed uses the state directory .*RUNTIME_STATE_DIR[^\n]*\n$/);
  expect(await readFile(path.join(stateDirectory, "keys.db"))).toEqual(keys);
  expect(await connect(first.url, first.rootKey).health.ready()).toMatchObject({ ok: true });
});

test("a daemon starts with all keys after kill -9 of the previous daemon", async () => {
  const killed = await startDaemon();
  onTestFinished(killed.dispose);
  const created = await connect(killed.url, killed.rootKey).keys.create({ body: { name: "kept", role: "viewer" } });
  await killed.kill();

  const next = await startDaemon({ directory: killed.directory });
  onTestFinished(next.dispose);

  const { keys } = await connect(next.url, created.data.key).keys.list();
  expect(keys.map(({ id, name }) => ({ id, name }))).toEqual([{ id: created.data.id, name: "kept" }]);
});

test("a daemon creates a state directory that only the owner can access", async () => {
  const daemon = await startDaemon();
  onTestFinished(daemon.dispose);

  expect((await stat(path.join(daemon.directory, "state"))).mode & 0o777).toBe(0o700);
});

test("only one of three daemons with the same state directory starts", async () => {
  const directory = await temporaryDirectory();
  const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startDaemon({ directory })));
  for (const start of starts) if (start.status === "fulfilled") onTestFinished(start.value.kill);
  expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const start of starts)
    if (start.status === "rejected") expect(String(start.reason)).toContain("Another runtimed uses the state directory");
});
