import { chmod, mkdir, mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

describe("another user of the machine", () => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
    const state = path.join(directory, "state");
    await mkdir(state);
    await chmod(state, 0o755);
    await writeFile(path.join(state, "lock.db"), "");
    await chmod(path.join(state, "lock.db"), 0o644);
    daemon = await startDaemon({ directory });
    await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "kept", role: "viewer" } });
  });
  afterAll(() => daemon.dispose());

  it("cannot enter a state directory that was readable for all users before the start", async () => {
    expect((await stat(path.join(daemon.directory, "state"))).mode & 0o777).toBe(0o700);
  });

  it("cannot read files in the state directory, even files of earlier versions", async () => {
    const state = path.join(daemon.directory, "state");
    const entries = await readdir(state, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files).toContain("lock.db");
    expect(files).toContain("keys.db");
    for (const name of files) expect([name, (await stat(path.join(state, name))).mode & 0o077]).toEqual([name, 0]);
  });
});
