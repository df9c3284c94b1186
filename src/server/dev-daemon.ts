import { subscribe } from "node:diagnostics_channel";
import { existsSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DevReport } from "../shared/dev-report.js";
import { runDaemon } from "./main.js";

/**
 * The daemon process of `runtimectl dev`. Reports its responses over the IPC channel, exits when its parent exits, and then deletes the
 * folder in its first argument. All files of the daemon are in this folder.
 */
const [directory] = process.argv.slice(2) as [string];

const removalTimeoutMs = 5000;
const removalPauseMs = 20;

// Deletes the folder of this daemon at every exit of the process.
process.on("exit", () => {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const startMs = performance.now(); existsSync(directory) && performance.now() - startMs < removalTimeoutMs;) {
    remove();
    if (existsSync(directory)) Atomics.wait(pause, 0, 0, removalPauseMs);
  }
});
process.on("disconnect", () => process.exit(0));
reportResponses();
report({ kind: "listening", origin: (await runDaemon({ printsNextSteps: false })).admin });

/**
 * Deletes the folder while other threads still run. If a thread creates a file meanwhile, rmSync fails. If a thread deletes a file
 * meanwhile, rmSync can stop early without an error.
 */
function remove(): void {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  } catch (error) {
    process.stderr.write(`runtimed: ${directory} could not be deleted yet: ${(error as Error).message}\n`);
  }
}

/**
 * Reports each response to the parent process. Subscribes to Node's diagnostics channels, so that the code that serves requests does not
 * need to report its responses.
 */
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

/** Sends a report to the parent process. Ignores a closed channel, because the handler of the event "disconnect" stops this process. */
function report(message: DevReport): void {
  if (process.connected) process.send?.(message, () => undefined);
}
