import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WorkerManifest } from "../../../../../src/shared/worker-manifest.js";
import { createInternalExchange } from "../../../../../src/server/workers/engine/internal-exchange.js";
import { addressOfTarget } from "../../../../../src/server/workers/engine/worker-address.js";
import { WorkerMeter } from "../../../../../src/server/workers/engine/worker-meter.js";
import type { RequestLog } from "../../../../../src/server/workers/logs/request-log.js";
import { CompressedFiles } from "../../../../../src/server/workers/static/compressed-files.js";
import { StaticCache } from "../../../../../src/server/workers/static/static-file.js";
import { StaticFiles } from "../../../../../src/server/workers/static/static-files.js";

test("a request for a static file is counted in readingCount until the file is read", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "static-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "index.html"), "<p>hello</p>");
  const meter = new WorkerMeter("site", "1.0.0");
  const files = await StaticFiles.open({
    version: { name: "site", version: "1.0.0", folder, generation: "1", manifest: WorkerManifest.parse({}) },
    directory: ".",
    page: "index.html",
    notFound: undefined,
    isExcluded: () => false,
    cache: new StaticCache(),
    compressed: new CompressedFiles(path.join(folder, "compressed")),
    meter,
    requestLog: { write: () => undefined } as unknown as RequestLog,
  });
  const statuses: number[] = [];
  for (const target of ["/", "/missing.txt"]) {
    const { request, response, answered } = createInternalExchange("GET");
    const exchange = { request, response, requestId: "1", address: addressOfTarget("site", target), upgrade: undefined, cron: undefined };
    files.handle(exchange, () => {
      // The next handler counts the request before the read is complete.
      expect(meter.readingCount).toBe(1);
      response.writeHead(404).end();
    });
    expect([meter.readingCount, meter.inFlightCount]).toEqual([1, 0]);
    statuses.push(await answered);
    await expect.poll(() => meter.readingCount).toBe(0);
  }
  expect(statuses).toEqual([200, 404]);
  expect(meter.endedCount).toBe(1);
});
