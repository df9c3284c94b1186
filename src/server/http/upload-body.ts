import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import { ApiError } from "../../shared/api-error.js";
import type { FileArrival, UploadedFile } from "../../shared/contract/endpoint.js";
import { formatSize } from "../../shared/size.js";
import { assertPlainEncoding, mediaTypeOf } from "./request-body.js";
import { SpoolFile } from "./spool-file.js";

export interface UploadOptions {
  /** Name of the file part. */
  readonly field: string;
  /** Folder for the bytes; whoever gets the file deletes it. */
  readonly spoolDirectory: string;
  readonly maxSizeBytes: number;
}

/** Headers and boundaries around the file. */
const multipartOverheadBytes = 64 * 1024;
/** What may wait at each step on the way to the disk: with less, receiving and writing would take turns instead of overlapping. */
const bufferedBytes = 256 * 1024;
export const multipartType = "multipart/form-data";
const maximumFields = 20;
const maximumFieldSizeBytes = 64 * 1024;

/**
 * Streams the one file part of a multipart body into the spool; whatever goes wrong, nothing of it stays. Resolves when the file is
 * whole, or when it turns out to be a large one: what goes wrong after that is told by its `arrival`.
 */
export async function readUpload(request: IncomingMessage, options: UploadOptions): Promise<UploadedFile> {
  assertPlainEncoding(request);
  const { type } = mediaTypeOf(request);
  if (type === "") throw noFile(options.field);
  if (type !== multipartType)
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", `This call takes multipart/form-data with the file in a part named ${options.field}.`);
  if (Number(request.headers["content-length"] ?? 0) > options.maxSizeBytes + multipartOverheadBytes) throw tooLarge(options);
  const file = new SpoolFile(path.join(options.spoolDirectory, randomUUID()));
  const whole = spool(request, file, options).catch(async (error: unknown) => {
    await rm(file.path, { force: true });
    throw error;
  });
  return await new Promise((resolve, reject) => {
    const uploaded = () => ({ path: file.path, filename: file.filename, sizeBytes: file.sizeBytes });
    whole.then(() => resolve(uploaded()), reject);
    const arrival: FileArrival = { whole, follow: (onGrowth) => file.follow(onGrowth) };
    file.follow(() => resolve({ ...uploaded(), arrival }));
  });
}

async function spool(request: IncomingMessage, file: SpoolFile, options: UploadOptions): Promise<void> {
  const parser = createParser(request, { files: 2, fields: maximumFields });
  let writing: Promise<void> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on("file", (field, stream, info) => {
        if (field !== options.field || writing) {
          // Destroying the parser destroys this stream too, with an error that nobody else would listen to.
          stream.on("error", () => {}).resume();
          reject(unexpectedFile(options.field));
          return;
        }
        file.filename = path.posix.basename((info.filename ?? "").replaceAll("\\", "/"));
        writing = writeSpool(stream, file, { sizeBytes: options.maxSizeBytes, refusal: () => tooLarge(options) });
        writing.catch((error: unknown) => {
          // A parser that gave up has ended the file with an error of its own, and reports itself what is wrong.
          if (!parser.destroyed) reject(error);
        });
      });
      for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
        parser.on(event, () => reject(new ApiError("INVALID_MULTIPART", "The body has too many parts.")));
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
    await writing?.catch(() => {});
    throw error;
  }
  if (!writing) throw noFile(options.field);
  await writing;
}

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

function unexpectedFile(field: string): ApiError {
  return new ApiError("INVALID_MULTIPART", `The body has a file part that is not expected; send one file, in a part named ${field}.`);
}

export function brokenBody(cause?: unknown): ApiError {
  return new ApiError("INVALID_MULTIPART", "The multipart body is broken or was cut off before its end.", { cause });
}

function noFile(field: string): ApiError {
  return new ApiError("NO_FILE_PROVIDED", `The upload has no file; send multipart/form-data with the archive in a part named ${field}.`);
}

function tooLarge(options: UploadOptions): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The file is larger than the ${formatSize(options.maxSizeBytes)} that are taken (RUNTIME_MAX_UPLOAD_SIZE).`,
  );
}
