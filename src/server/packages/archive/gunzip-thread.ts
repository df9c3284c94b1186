// A thread of the unpacking process: inflates one archive, see `gunzipInThread`.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { ApiError } from "../../../shared/api-error.js";
import type { ErrorCode } from "../../../shared/errors.js";
import { Arrival } from "./arrival.js";
import { gunzipFile } from "./gunzip-file.js";

/** What the thread is started with. */
export interface GunzipThreadJob {
  readonly path: string;
  readonly maxStreamBytes: number;
  /** How many chunks it may be ahead of those that were taken. */
  readonly chunksAhead: number;
}

/** What the thread is told. */
export type GunzipThreadOrder = { readonly arrivedBytes: number } | { readonly taken: true };

/** What the thread says; a chunk belongs to its receiver. */
export type GunzipThreadNews =
  | { readonly chunk: Uint8Array }
  | { readonly end: true }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } };

const job = workerData as GunzipThreadJob;
const port = parentPort as MessagePort;
const arrival = new Arrival();
/** How many chunks were sent, and how many of them taken. */
const passed = { sent: 0, taken: 0, onTaken: (): void => undefined };

port.on("message", (order: GunzipThreadOrder) => {
  if ("arrivedBytes" in order) return arrival.tell(order.arrivedBytes);
  passed.taken += 1;
  passed.onTaken();
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is for windows; a thread has no origin.
const say = (news: GunzipThreadNews, belongings: ArrayBuffer[] = []) => port.postMessage(news, belongings);

try {
  for await (const inflated of gunzipFile(job.path, job.maxStreamBytes, arrival)) {
    while (passed.sent - passed.taken >= job.chunksAhead) await new Promise<void>((resolve) => (passed.onTaken = resolve));
    passed.sent += 1;
    // A copy, since zlib goes on writing behind this chunk in the same memory.
    const chunk = new Uint8Array(inflated);
    say({ chunk }, [chunk.buffer]);
  }
  say({ end: true });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  say({ refusal: { code: error.code, message: error.message } });
}
port.close();
