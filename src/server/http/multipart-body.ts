import { createWriteStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import { ApiError } from "../../shared/api-error.js";
import type { SpoolFile } from "./spool-file.js";

export const multipartType = "multipart/form-data";
/** What may wait at each step on the way to the disk: with less, receiving and writing would take turns instead of overlapping. */
const bufferedBytes = 256 * 1024;
const maximumFieldSizeBytes = 64 * 1024;

/** A parser of multipart bodies with so many parts at most. */
export function createParser(request: IncomingMessage, { files, fields }: { files: number; fields: number }): busboy.Busboy {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: "utf8",
      highWaterMark: bufferedBytes,
      fileHwm: bufferedBytes,
      limits: { files, fields, parts: files + fields, fieldSize: maximumFieldSizeBytes },
    });
  } catch (cause) {
    throw new ApiError("INVALID_MULTIPART", "The multipart body cannot be read: its Content-Type has no boundary.", { cause });
  }
}

/**
 * Feeds a body to a parser until its last part has begun and all have ended. `begin` listens to the parts, and refuses with what is wrong with
 * one; rejects with that, or with what is wrong with the body.
 */
export async function feed(
  request: IncomingMessage,
  parser: busboy.Busboy,
  { begin, tooManyParts }: { begin: (refuse: (error: unknown) => void) => void; tooManyParts: () => ApiError },
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      begin(reject);
      for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const) parser.on(event, () => reject(tooManyParts()));
      parser.on("error", (cause) => reject(brokenBody(cause)));
      parser.on("close", resolve);
      request.on("close", () => {
        if (!request.complete) reject(brokenBody());
      });
      // Not a pipeline: that would destroy the request, and with it the way to tell the client what is wrong.
      request.pipe(parser);
    });
  } catch (error) {
    request.unpipe(parser);
    parser.destroy();
    throw error;
  }
}

/** Writes a file part to the spool; throws the refusal when it is larger than that. */
export async function writeSpool(
  stream: Readable,
  file: SpoolFile,
  most: { readonly sizeBytes: number; readonly refusal: () => ApiError },
): Promise<void> {
  let receivedBytes = 0;
  const count = new Transform({
    highWaterMark: bufferedBytes,
    transform(chunk: Buffer, _encoding, done) {
      receivedBytes += chunk.length;
      file.grow(sink.bytesWritten);
      done(receivedBytes > most.sizeBytes ? most.refusal() : null, chunk);
    },
  });
  const sink = createWriteStream(file.path, { flags: "wx", mode: 0o600, highWaterMark: bufferedBytes });
  try {
    await pipeline(stream, count, sink);
  } catch (error) {
    // A file that is still being opened would come into being after its deletion.
    if (!sink.closed) await new Promise<void>((resolve) => sink.once("close", () => resolve()));
    throw asSpoolFailure(error);
  }
  file.grow(receivedBytes);
}

function asSpoolFailure(error: unknown): unknown {
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return noSpace(error);
  const isClosed = syscall === "open" && ["ENOENT", "ENOTDIR", "EROFS", "EACCES", "EPERM"].includes(code);
  return isClosed ? noSpool(error) : error;
}

function noSpool(cause: unknown): ApiError {
  return new ApiError(
    "STORAGE_NOT_WRITABLE",
    "The server's state directory is gone or cannot be written; nothing was changed. Bring it back, then try again.",
    { cause },
  );
}

function noSpace(cause: unknown): ApiError {
  return new ApiError("INSUFFICIENT_STORAGE", "The disk is full; nothing was changed. Free some space and try again.", { cause });
}

function brokenBody(cause?: unknown): ApiError {
  return new ApiError("INVALID_MULTIPART", "The multipart body is broken or was cut off before its end.", { cause });
}
