import { stat } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { openHistory } from "../../support/history-harness.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { mountSmallDisk } from "../../support/small-disk.js";
import { startDaemon } from "../../support/start-daemon.js";

const warning = "the metrics history could not be written to disk; free space in the state directory";

test("the metrics history keeps points while the disk is full, and writes them later", async () => {
  const disk = await mountSmallDisk({ megabytes: 2, names: 100 });
  const harness = await openHistory(undefined, disk.folder);
  harness.request("shop", { count: 1 });
  await harness.minute();
  await disk.leaveKilobytes(0);
  for (let minute = 0; minute < 500; minute += 1) {
    harness.request("shop", { count: 2 });
    await harness.minute();
  }
  expect(harness.warnings).toEqual([warning]);
  expect(await harness.requestsOf("shop")).toHaveLength(501);

  await disk.free();
  for (const count of [3, 4]) {
    harness.request("shop", { count });
    await harness.minute();
  }
  await harness.restart();

  const points = await harness.requestsOf("shop");
  expect(points).toHaveLength(503);
  expect(points.at(-1)).toEqual([503, 4]);
});

test("a daemon with a full state directory serves, logs one warning and can stop", async () => {
  const disk = await mountSmallDisk({ megabytes: 8, names: 400 });
  const daemon = await startDaemon({ directory: disk.directory, launcher: disk.launcher });
  onTestFinished(daemon.kill);
  const client = connect(daemon.url, daemon.rootKey);
  const code = { "manifest.yaml": manifestOf("app", "1.0.0"), "index.js": "export default { fetch: () => new Response('served') };" };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(code)) });
  const journal = path.join(disk.folder, "state", "metrics-history", "journal");
  await expect.poll(async () => (await stat(journal).catch(() => ({ size: 0 }))).size).toBeGreaterThan(0);
  await disk.leaveKilobytes(0);
  // Each restart is a marker, until the last block of the journal is full.
  for (let number = 0; number < 60; number += 1) await client.workers.restart({ params: { scope: "_", name: "app", version: "1.0.0" } });
  await expect.poll(() => daemon.output()).toContain(warning);

  expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("served");
  expect((await client.metrics.history({ query: { worker: "app" } })).markers.length).toBeGreaterThan(2);
  expect(await daemon.stop()).toBe(0);
  expect(daemon.output().split(warning)).toHaveLength(2);
});
