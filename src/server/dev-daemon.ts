import { subscribe } from "node:diagnostics_channel";
import { existsSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DevReport } from "../shared/dev-report.js";
import { runDaemon } from "./main.js";

/**
 * The daemon process of `runtimectl dev`. It reports its responses over the IPC channel and exits with its parent. At exit, it deletes the
 * folder in its first argument, which contains all its files.
 */
const [directory] = process.argv.slice(2) as [string];

const removalTimeoutMs = 5000;
const removalPauseMs = 20;

// Deletes the folder at every exit of the process.
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
 * Deletes the folder while other threads still run. rmSync throws if a thread creates a file meanwhile, and stops early without an error
 * if a thread deletes a file.
 */
function remove(): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  } catch (error) {
    process.stderr.write(`runtimed: ${directory} could not be deleted yet: ${(error as Error).message}\n`);
  }
}

/** Reports each response to the parent process. Uses Node's diagnostics channels, so that the code for requests contains no reports. */
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

/**
 * Sends a report to the parent process. Must not throw when the channel is closed, because the event "disconnect" handles the parent's
 * exit.
 */
function report(message: DevReport): void {
  if (process.connected) process.send?.(message, () => undefined);
}
