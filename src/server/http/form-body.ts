import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { EndpointDefinition, FormDefinition, UploadedFile } from "../../shared/contract/endpoint.js";
import { mostPaths } from "../../shared/contract/files.js";
import { formatSize } from "../../shared/size.js";
import type { Config } from "../config/config.js";
import { parseInput } from "./input.js";
import { createParser, feed, multipartType, writeSpool } from "./multipart-body.js";
import { assertPlainEncoding, mediaTypeOf } from "./request-body.js";
import { SpoolFile } from "./spool-file.js";

interface FormOptions {
  /** Folder for the bytes; whoever gets the files deletes them. */
  readonly spoolDirectory: string;
  readonly config: Config;
  /** Called when the body is complete; when it throws, the form is refused. */
  readonly assertAllowed: () => void;
}

interface ReceivedForm {
  readonly fields: unknown;
  readonly files: readonly UploadedFile[];
}

/** A name and an ETag for each file, and some more. */
const mostFields = 2 * mostPaths + 20;

/** Streams the files of a form into the spool and parses its fields; whatever goes wrong, nothing of it stays. */
export async function readForm(request: IncomingMessage, endpoint: EndpointDefinition, options: FormOptions): Promise<ReceivedForm> {
  const form = endpoint.form as FormDefinition;
  assertPlainEncoding(request);
  const { type } = mediaTypeOf(request);
  if (type === "") throw noFiles(form);
  if (type !== multipartType)
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", `This call takes multipart/form-data with files in parts named ${form.files}.`);
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
        // Destroying the parser destroys this stream too, with an error that nobody else would listen to.
        stream.on("error", () => {}).resume();
        refuse(name === form.files ? tooManyParts() : unexpectedPart(name, form));
        return;
      }
      const file = new SpoolFile(path.join(spoolDirectory, randomUUID()));
      file.filename = path.posix.basename((info.filename ?? "").replaceAll("\\", "/"));
      // One comes after the other, so those before are whole.
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
    await feed(request, parser, { begin, tooManyParts });
  } catch (error) {
    await Promise.allSettled(writings);
    throw error;
  }
  await Promise.all(writings);
}

function tooManyParts(): ApiError {
  return new ApiError("INVALID_MULTIPART", `The body has too many parts; send at most ${mostPaths} files at once.`);
}

function unexpectedPart(name: string | undefined, { files }: FormDefinition): ApiError {
  return new ApiError("INVALID_MULTIPART", `A file came in a part named ${JSON.stringify(name)}; send files in parts named ${files}.`);
}

function noFiles({ files }: FormDefinition): ApiError {
  return new ApiError("NO_FILE_PROVIDED", `The upload has no file; send multipart/form-data with files in parts named ${files}.`);
}

function tooLarge(mostBytes: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The files are larger than the ${formatSize(mostBytes)} that are taken at once (RUNTIME_MAX_UPLOAD_SIZE). Send them in several calls.`,
  );
}
