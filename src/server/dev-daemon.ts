import { subscribe } from "node:diagnostics_channel";
import { existsSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DevReport } from "../shared/dev-report.js";
import { runDaemon } from "./main.js";

/**
 * What `runtimectl dev` starts, with a channel to itself: a daemon that tells its parent what it answers, and that ends when its
 * parent does, however that came to pass. The folder given, which holds all that the daemon writes, goes with it.
 */
const [directory] = process.argv.slice(2) as [string];

const removalTimeoutMs = 5000;
const removalPauseMs = 20;

// However it ends.
process.on("exit", () => {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const startMs = performance.now(); existsSync(directory) && performance.now() - startMs < removalTimeoutMs;) {
    remove();
    if (existsSync(directory)) Atomics.wait(pause, 0, 0, removalPauseMs);
  }
});
process.on("disconnect", () => process.exit(0));
reportResponses();
report({ kind: "listening", origin: (await runDaemon({ tellsNext: false })).admin });

/**
 * Threads of ours go on while this runs. When one makes a file, rmSync throws after its retries; when one deletes a file, such as a link in
 * the slot of an isolate, rmSync returns early and without an error.
 */
function remove(): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  } catch (error) {
    process.stderr.write(`runtimed: ${directory} is not removed yet: ${(error as Error).message}\n`);
  }
}

/** Node's own channels: nothing on the way of a request is ours, and nothing of this runs in another daemon. */
function reportResponses(): void {
  const startedMs = new WeakMap<IncomingMessage, number>();
  subscribe("http.server.request.start", (message) => {
    startedMs.set((message as { request: IncomingMessage }).request, performance.now());
  });
  subscribe("http.server.response.finish", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const durationMs = performance.now() - (startedMs.get(request) ?? performance.now());
    report({ kind: "answered", method: request.method ?? "", target: request.url ?? "", status: response.statusCode, durationMs });
  });
}

/** A parent that is gone is noticed by its channel; a report that finds it closed before that must not fail. */
function report(message: DevReport): void {
  if (process.connected) process.send?.(message, () => undefined);
}
