// One side of bench/warm-worker.mjs: `worker` is the engine behind a bare server, `raw` answers the same without it.
import http from "node:http";
import path from "node:path";
import pino from "pino";
import { WorkerEngine } from "../dist/server/workers/worker-engine.js";
import { WorkerManifest } from "../dist/shared/worker-manifest.js";

const [kind, folder] = process.argv.slice(2);
const server = kind === "worker" ? workerServer() : rawServer();
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

function rawServer() {
  return http.createServer((request, response) => {
    if (request.method !== "POST") {
      response.end("ok");
      return;
    }
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => response.end(Buffer.concat(chunks)));
  });
}

function workerServer() {
  const version = { name: "app", version: "latest", folder, generation: "1", manifest: WorkerManifest.parse({}) };
  const engine = new WorkerEngine({
    resolve: () => version,
    limits: { poolSize: 10, maxBodySizeBytes: 1e8, workerMemoryMaxBytes: 1e9 },
    slotsDirectory: path.join(folder, ".slots"),
    isOurKey: () => false,
    log: pino({ level: "warn" }),
  });
  process.on("SIGTERM", () => void engine.close().then(() => process.exit()));
  let requests = 0;
  return http.createServer((request, response) => {
    requests += 1;
    engine.handle(request, response, String(requests));
  });
}
