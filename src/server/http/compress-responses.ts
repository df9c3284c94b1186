import type { Middleware } from "koa";
import compress from "koa-compress";
import { brotliOptions, gzipOptions, leastCompressedBytes, preferredCoding } from "../web/content-coding.js";

/** Compresses answers of the API that are text, by brotli or gzip. Downloads and event streams are sent without Koa, hence as they are. */
export function compressResponses(): Middleware {
  const compressResponse = compress({ threshold: leastCompressedBytes, br: brotliOptions, gzip: gzipOptions, zstd: false, deflate: false });
  return async (context, next) => {
    await compressResponse(context, next);
    const isShort = context.length === undefined || context.length < leastCompressedBytes;
    if (context.method !== "HEAD" || isShort || !preferredCoding(context.req.headers["accept-encoding"])) return;
    // The length of what GET answers is known only once it is compressed, and Koa would add that of the text.
    context.remove("Content-Length");
    context.respond = false;
    context.res.end();
  };
}
