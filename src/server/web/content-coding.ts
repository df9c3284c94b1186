import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import Negotiator from "negotiator";

/** Supported values of `Content-Encoding`, in order of preference. */
const contentCodings = ["br", "gzip"] as const;

export type ContentCoding = (typeof contentCodings)[number];

/** Minimum size in bytes of a body that the daemon compresses. A smaller body fits into one network packet. */
export const leastCompressedBytes = 1024;

/** Options for brotli. Higher qualities take many times as long and save only a few percent. */
export const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
export const gzipOptions = { level: 6 };

/** Returns the first supported coding that the client's `Accept-Encoding` allows. Returns undefined if the header allows none. */
export function preferredCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const accepted = new Negotiator({ headers: { "accept-encoding": acceptEncoding } }).encodings([...contentCodings]);
  return contentCodings.find((coding) => accepted.includes(coding));
}

const compressGzip = promisify(gzip);
const compressBrotli = promisify<Buffer, typeof brotliOptions, Buffer>(brotliCompress);

/** Compresses a body in libuv's thread pool. */
export function compressContent(content: Buffer, coding: ContentCoding): Promise<Buffer> {
  return coding === "br" ? compressBrotli(content, brotliOptions) : compressGzip(content, gzipOptions);
}
