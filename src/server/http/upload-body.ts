import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadProgress, UploadedFile } from "../platform/uploaded-file.js";
import { formatSize } from "../../shared/size.js";
import { createParser, discardPart, feed, multipartType, writeSpool } from "./multipart.js";
import { assertPlainEncoding, mediaTypeOf } from "./request-body.js";
import { SpoolFile } from "./spool-file.js";

export interface UploadOptions {
  /** Name of the multipart part that must contain the file. */
  readonly field: string;
  /** Folder for the uploaded file. The caller of `readUpload` must delete the file. */
  readonly spoolDirectory: string;
  readonly maxSizeBytes: number;
  /** If true, computes the SHA-256 of the file while it arrives. */
  readonly isHashed?: boolean;
  /** Throws if the caller is no longer allowed to make the call. Called when the body is complete. */
  readonly assertAllowed: () => void;
}

/** Maximum number of bytes in the headers and boundaries of the multipart body. The file itself is not included. */
const multipartOverheadBytes = 64 * 1024;
const maximumFields = 20;

/**
 * Writes the file part of a multipart body to the spool. Resolves when the file is complete. For a large file, resolves earlier, and
 * `progress` then reports later errors. After an error, deletes the file.
 */
export async function readUpload(request: IncomingMessage, options: UploadOptions): Promise<UploadedFile> {
  assertPlainEncoding(request);
  const { type } = mediaTypeOf(request);
  if (type === "") throw noFile(options.field);
  if (type !== multipartType)
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", `This call requires multipart/form-data with the file in a part named ${options.field}.`);
  if (Number(request.headers["content-length"] ?? 0) > options.maxSizeBytes + multipartOverheadBytes) throw tooLarge(options);
  const file = new SpoolFile(path.join(options.spoolDirectory, randomUUID()), options);
  const whole = spool(request, file, options).catch(async (error: unknown) => {
    await rm(file.path, { force: true });
    throw error;
  });
  return await new Promise((resolve, reject) => {
    const uploaded = () => ({ path: file.path, filename: file.filename, sizeBytes: file.sizeBytes, sha256: () => file.sha256() });
    whole.then(() => resolve(uploaded()), reject);
    const progress: UploadProgress = { whole, follow: (onGrowth) => file.follow(onGrowth) };
    file.follow(() => resolve({ ...uploaded(), progress }));
  });
}

async function spool(request: IncomingMessage, file: SpoolFile, options: UploadOptions): Promise<void> {
  const parser = createParser(request, { files: 2, fields: maximumFields });
  let writing: Promise<void> | undefined;
  const begin = (refuse: (error: unknown) => void) =>
    parser.on("file", (field, stream, info) => {
      if (field !== options.field || writing) {
        discardPart(stream);
        refuse(unexpectedFile(options.field));
        return;
      }
      file.filename = path.posix.basename((info.filename ?? "").replaceAll("\\", "/"));
      writing = writeSpool(stream, file, { sizeBytes: options.maxSizeBytes, refusal: () => tooLarge(options) });
      writing.catch((error: unknown) => {
        // Skips the error if the parser is already destroyed, because the parser has reported the same error.
        if (!parser.destroyed) refuse(error);
      });
    });
  try {
    await feed(request, parser, {
      begin,
      limitError: () => new ApiError("INVALID_MULTIPART", `The body has too many parts. Send one file, in a part named ${options.field}.`),
    });
  } catch (error) {
    await writing?.catch(() => {});
    throw error;
  }
  if (!writing) throw noFile(options.field);
  await writing;
  options.assertAllowed();
}

function unexpectedFile(field: string): ApiError {
  return new ApiError("INVALID_MULTIPART", `The body has an unexpected file part. Send one file, in a part named ${field}.`);
}

function noFile(field: string): ApiError {
  return new ApiError("NO_FILE_PROVIDED", `The upload has no file. Send multipart/form-data with the archive in a part named ${field}.`);
}

function tooLarge(options: UploadOptions): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The file exceeds the ${formatSize(options.maxSizeBytes)} upload limit (RUNTIME_MAX_UPLOAD_SIZE).`,
  );
}
