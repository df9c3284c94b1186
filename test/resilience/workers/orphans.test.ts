import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon } from "../../support/start-daemon.js";

const fixture = fileURLToPath(new URL("../../fixtures/workers/faults/index.js", import.meta.url));

test("an isolate in an endless loop stops when its daemon is killed", async () => {
  const daemon = await startDaemon({ env: { RUNTIME_WORKER_UIDS: "off" } });
  onTestFinished(daemon.dispose);
  const archive = await packFiles({ "manifest.yaml": "name: app\n", "index.js": await readFile(fixture, "utf8") });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("app.tgz", archive) });
  const pid = Number(await (await fetch(`${daemon.url}/app/pid`)).text());
  const ask = async (target: string): Promise<void> => {
    await once(
      http.get(`${daemon.url}/app/${target}`).on("error", () => undefined),
      "finish",
    );
  };
  // The isolate receives both requests in order. When the second request also waits, the loop has started or starts next.
  await ask("loop");
  await ask("ok");

  await daemon.kill();

  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
});
