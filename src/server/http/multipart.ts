import { createWriteStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import { ApiError } from "../../shared/api-error.js";
import { SpoolFile } from "./spool-file.js";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { EndpointDefinition, FormDefinition } from "../../shared/contract/endpoint.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import { mostPaths } from "../../shared/contract/files.js";
import { formatSize } from "../../shared/size.js";
import type { Config } from "../config/config.js";
import { parseInput } from "./input.js";
import { assertPlainEncoding, mediaTypeOf } from "./request-body.js";

export const multipartType = "multipart/form-data";
/**
 * Size in bytes of each buffer between the socket and the disk. With smaller buffers, the daemon would not receive and write at the same
 * time.
 */
const bufferedBytes = 256 * 1024;
const maximumFieldSizeBytes = 64 * 1024;

/** Maximum number of form fields. Each file has a name and an ETag, and 20 other fields are possible. The limit bounds the memory. */
const mostFields = 2 * mostPaths + 20;

/** Creates a parser for a multipart body, with limits for the number of files and fields. */
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
    throw new ApiError(
      "INVALID_MULTIPART",
      "The multipart body cannot be read: its Content-Type has no boundary. Send Content-Type: multipart/form-data; boundary=TEXT.",
      { cause },
    );
  }
}

/**
 * Sends a body to a parser and resolves when the parser has read the whole body. `begin` registers the handlers for parts. Rejects with the
 * first error of a part or of the body.
 */
export async function feed(
  request: IncomingMessage,
  parser: busboy.Busboy,
  { begin, limitError }: { begin: (refuse: (error: unknown) => void) => void; limitError: () => ApiError },
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      begin(reject);
      for (const event of ["partsLimit", "filesLimit", "fieldsLimit"] as const) parser.on(event, () => reject(limitError()));
      parser.on("error", (cause) => reject(brokenBody(cause)));
      parser.on("close", resolve);
      request.on("close", () => {
        if (!request.complete) reject(brokenBody());
      });
      // Calls `pipe` instead of `pipeline`, which would destroy the request after an error. The client would then receive no response.
      request.pipe(parser);
    });
  } catch (error) {
    request.unpipe(parser);
    parser.destroy();
    throw error;
  }
}

/**
 * Discards a part of a body. Ignores the error that the part emits when the parser is destroyed, because an unhandled error would end the
 * daemon.
 */
export function discardPart(stream: Readable): void {
  stream.on("error", () => {}).resume();
}

/** Writes a file part to the spool. If the file exceeds `most.sizeBytes`, rejects with the error that `most.refusal()` returns. */
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
      file.note(chunk);
      file.grow(sink.bytesWritten);
      done(receivedBytes > most.sizeBytes ? most.refusal() : null, chunk);
    },
  });
  const sink = createWriteStream(file.path, { flags: "wx", mode: 0o600, highWaterMark: bufferedBytes });
  try {
    await pipeline(stream, count, sink);
  } catch (error) {
    // Waits until the file is closed. Otherwise a call of `open` that still runs could create the file again after its deletion.
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
    "The daemon's state directory is missing or not writable. Nothing was changed. Restore the directory, then retry.",
    { cause },
  );
}

function noSpace(cause: unknown): ApiError {
  return new ApiError("INSUFFICIENT_STORAGE", "The disk is full. Nothing was changed. Free disk space, then retry.", { cause });
}

function brokenBody(cause?: unknown): ApiError {
  return new ApiError("INVALID_MULTIPART", "The multipart body is malformed or incomplete. Send the whole upload again.", { cause });
}

interface FormOptions {
  /** Folder for the uploaded files. The caller of `readForm` must delete the files. */
  readonly spoolDirectory: string;
  readonly config: Config;
  /** Throws if the caller is no longer allowed to make the call. Called when the body is complete. */
  readonly assertAllowed: () => void;
}

interface ReceivedForm {
  readonly fields: unknown;
  readonly files: readonly UploadedFile[];
}

/** Writes the files of a form to the spool and parses its fields. After an error, deletes all files. */
export async function readForm(request: IncomingMessage, endpoint: EndpointDefinition, options: FormOptions): Promise<ReceivedForm> {
  const form = endpoint.form as FormDefinition;
  assertPlainEncoding(request);
  const { type } = mediaTypeOf(request);
  if (type === "") throw noFiles(form);
  if (type !== multipartType)
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", `This call requires multipart/form-data with files in parts named ${form.files}.`);
  const files: SpoolFile[] = [];
  const texts = new Map<string, string[]>();
  try {
    await receive(request, form, { ...options, files, texts });
    options.assertAllowed();
    if (files.length === 0) throw noFiles(form);
    const given = [...texts].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
    const fields = parseInput(endpoint, "body", form.fields, Object.fromEntries(given));
    return { fields, files: files.map(({ path: file, filename, sizeBytes }) => ({ path: file, filename, sizeBytes })) };
  } catch (error) {
    for (const file of files) await rm(file.path, { force: true });
    throw error;
  }
}

async function receive(
  request: IncomingMessage,
  form: FormDefinition,
  { files, texts, spoolDirectory, config }: FormOptions & { files: SpoolFile[]; texts: Map<string, string[]> },
): Promise<void> {
  const { maxUploadSizeBytes } = config.limits;
  const parser = createParser(request, { files: mostPaths + 1, fields: mostFields });
  const writings: Promise<void>[] = [];
  const begin = (refuse: (error: unknown) => void) => {
    parser.on("file", (name, stream, info) => {
      if (name !== form.files || files.length === mostPaths) {
        discardPart(stream);
        refuse(name === form.files ? tooManyParts() : unexpectedPart(name, form));
        return;
      }
      const file = new SpoolFile(path.join(spoolDirectory, randomUUID()));
      file.filename = path.posix.basename((info.filename ?? "").replaceAll("\\", "/"));
      // Subtracts the sizes of earlier files of the form from the limit. These sizes are final, because the files arrive one after another.
      const sizeBytes = maxUploadSizeBytes - files.reduce((sum, before) => sum + before.sizeBytes, 0);
      files.push(file);
      const writing = writeSpool(stream, file, { sizeBytes, refusal: () => tooLarge(maxUploadSizeBytes) });
      writings.push(writing);
      writing.catch((error: unknown) => {
        if (!parser.destroyed) refuse(error);
      });
    });
    parser.on("field", (name, value, { valueTruncated }) => {
      if (valueTruncated) refuse(new ApiError("INVALID_MULTIPART", `The field ${JSON.stringify(name)} is too long.`));
      texts.set(name, [...(texts.get(name) ?? []), value]);
    });
  };
  try {
    await feed(request, parser, { begin, limitError: tooManyParts });
  } catch (error) {
    await Promise.allSettled(writings);
    throw error;
  }
  await Promise.all(writings);
}

function tooManyParts(): ApiError {
  return new ApiError("INVALID_MULTIPART", `The body has too many parts. Send at most ${mostPaths} files at once.`);
}

function unexpectedPart(name: string | undefined, { files }: FormDefinition): ApiError {
  return new ApiError(
    "INVALID_MULTIPART",
    `The body has a file in a part named ${JSON.stringify(name)}. Send files in parts named ${files}.`,
  );
}

function noFiles({ files }: FormDefinition): ApiError {
  return new ApiError("NO_FILE_PROVIDED", `The upload has no file. Send multipart/form-data with files in parts named ${files}.`);
}

function tooLarge(mostBytes: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The files exceed the ${formatSize(mostBytes)} limit of one call (RUNTIME_MAX_UPLOAD_SIZE). Send the files in several calls.`,
  );
}
