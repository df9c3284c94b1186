import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { ApiError } from "../../../shared/api-error.js";
import type { Arrival } from "./arrival.js";
import type { GunzipThreadJob, GunzipThreadNews, GunzipThreadOrder } from "./gunzip-thread.js";

/** With fewer, thread and writer would wait for each other in turn; a chunk is at most 1 MB. */
const chunksAhead = 8;

/**
 * What `gunzipFile` yields, from a thread of its own. zlib's streams inflate in another thread too, but are told to go on by this one's
 * event loop, which is busy writing files for most of the time.
 */
export async function* gunzipInThread(path: string, maxStreamBytes: number, arrival: Arrival): AsyncGenerator<Buffer> {
  const job: GunzipThreadJob = { path, maxStreamBytes, chunksAhead };
  const thread = new Worker(new URL("gunzip-thread.js", import.meta.url), { workerData: job });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is for windows; a thread has no origin.
  const order = (what: GunzipThreadOrder) => thread.postMessage(what);
  const news = on(thread, "message", { close: ["exit"] }) as AsyncIterable<[GunzipThreadNews]>;
  void (async () => {
    for await (const arrivedBytes of arrival.sizes()) order({ arrivedBytes });
  })();
  try {
    for await (const [said] of news) {
      if ("end" in said) return;
      if ("refusal" in said) throw new ApiError(said.refusal.code, said.refusal.message);
      yield Buffer.from(said.chunk.buffer, said.chunk.byteOffset, said.chunk.byteLength);
      order({ taken: true });
    }
    throw new Error("the thread that inflates ended early");
  } finally {
    await thread.terminate();
  }
}
