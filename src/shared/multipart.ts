import type { UploadSource } from "./contract/endpoint.js";

export interface MultipartBody {
  readonly contentType: string;
  /** Size of the body in bytes. Undefined if the size of a file is unknown. */
  readonly sizeBytes: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A text field of a form: its name and its value. */
export type FormField = readonly [name: string, value: string];

/** Returns a streamed multipart/form-data body: first the text fields, then one file part with the name `field` per source. */
export function multipartOf(field: string, sources: readonly UploadSource[], fields: readonly FormField[] = []): MultipartBody {
  const boundary = `----runtime-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const texts = fields.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const start = encoder.encode(texts.join(""));
  const heads = sources.map((source) => {
    const filename = source.filename.replace(/["\r\n\\]/g, "_");
    return encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    );
  });
  const partEnd = encoder.encode("\r\n");
  const tail = encoder.encode(`--${boundary}--\r\n`);
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield start;
    for (const [index, source] of sources.entries()) {
      yield heads[index] as Uint8Array;
      yield* source.bytes;
      yield partEnd;
    }
    yield tail;
  }
  const framingBytes = [start, ...heads, tail].reduce((sum, { length }) => sum + length, sources.length * partEnd.length);
  const fileBytes = sources.reduce<number | undefined>(
    (sum, { sizeBytes }) => (sum === undefined || sizeBytes === undefined ? undefined : sum + sizeBytes),
    0,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: fileBytes === undefined ? undefined : framingBytes + fileBytes,
    bytes: bytes(),
  };
}
