import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const row = { path: "/x", removable: true, source: "uploaded", disabledVersions: [] };

async function listed(rows: readonly object[], flags: readonly string[] = []): Promise<string> {
  const daemon = await startFakeDaemon({ "/api/workers": rows });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  return (await runInProcess(["workers", "list", "--url", daemon.url, ...flags], { cwd: home, env })).stdout;
}

test("`workers list` marks the active version of each worker as `live`", async () => {
  const app = { ...row, name: "app", versions: ["2.0.0-rc.1", "1.1.0", "1.0.0"], disabledVersions: ["1.1.0"] };
  const off = { ...row, name: "off", versions: ["1.0.0"], disabledVersions: ["1.0.0"] };

  expect(await listed([app, off])).toBe(
    "app\t2.0.0-rc.1\ton\t\tuploaded\t\napp\t1.1.0\toff\t\tuploaded\t\napp\t1.0.0\ton\tlive\tuploaded\t\noff\t1.0.0\toff\t\tuploaded\t\n",
  );
});

test("`workers list` marks one active version among built-in and uploaded versions", async () => {
  const rows = [
    { ...row, name: "cpanel", versions: ["1.0.0"], source: "built-in", removable: false },
    { ...row, name: "cpanel", versions: ["1.1.0"] },
  ];

  expect(await listed(rows, ["--all"])).toBe("cpanel\t1.0.0\ton\t\tbuilt-in\t\ncpanel\t1.1.0\ton\tlive\tuploaded\t\n");
});

test("`workers list` marks a version that only this daemon has as `local`", async () => {
  const app = { ...row, name: "app", versions: ["1.1.0", "1.0.0"], localVersions: ["1.1.0"] };

  expect(await listed([app])).toBe("app\t1.1.0\ton\tlive\tlocal\t\napp\t1.0.0\ton\t\tuploaded\t\n");
});

test("`workers list --json` states whether each version is active", async () => {
  const { workers } = JSON.parse(await listed([{ ...row, name: "app", versions: ["1.1.0", "1.0.0"] }], ["--json"])) as { workers: unknown };

  expect(workers).toEqual([
    {
      name: "app",
      path: "/x",
      removable: true,
      source: "uploaded",
      versions: [
        { version: "1.1.0", enabled: true, answers: true },
        { version: "1.0.0", enabled: true, answers: false },
      ],
    },
  ]);
});

test("`workers health` shows that a problem is older than the start of the daemon", async () => {
  const health = { name: "app", version: "1.0.0", state: "degraded", since: 1_800_000_000, isSinceStart: true, reason: "It fails." };
  const daemon = await startFakeDaemon({ "/api/workers/health": [health] });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const { stdout } = await runInProcess(["workers", "health", "app", "--url", daemon.url], { cwd: home, env });

  expect(stdout).toMatch(/^since +at least since the start of the daemon, 2027-01-15T08:00:00Z$/m);
});
