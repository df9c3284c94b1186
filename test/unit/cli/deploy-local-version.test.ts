import path from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { manifestOf } from "../../support/pack-files.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

/** Returns the result of `deploy --dry-run` for shop 1.0.0 on a daemon with these fields in its list. */
async function plan(shop: object): Promise<{ status: number; stdout: string; stderr: string }> {
  const row = { name: "shop", path: "/shop", removable: true, source: "uploaded", versions: ["1.0.0"], disabledVersions: [], ...shop };
  const daemon = await startFakeDaemon({ "/api/workers": [row] });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  await mkdir(path.join(home, "shop"));
  await writeFile(path.join(home, "shop/manifest.yaml"), manifestOf("shop", "1.0.0"));
  await writeFile(path.join(home, "shop/index.html"), "shop");
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  return await runInProcess(["deploy", "shop", "--dry-run", "--json", "--url", daemon.url], { cwd: home, env });
}

test("`deploy` uploads a version that only the requested daemon has", async () => {
  const shared = await plan({});
  expect(shared.stderr).toContain("VERSION_EXISTS");

  const local = await plan({ localVersions: ["1.0.0"] });
  expect(local.stderr).toBe("");
  expect(JSON.parse(local.stdout)).toMatchObject({ action: "install", before: "1.0.0" });
});
