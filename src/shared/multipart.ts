import type { UploadSource } from "./contract/endpoint.js";

export interface MultipartBody {
  readonly contentType: string;
  /** Known when the size of the file is. */
  readonly sizeBytes: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A multipart/form-data body with one file part, sent as its bytes come. */
export function multipartOf(field: string, source: UploadSource): MultipartBody {
  const boundary = `----runtime-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const filename = source.filename.replace(/["\r\n\\]/g, "_");
  const head = encoder.encode(
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* source.bytes;
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: source.sizeBytes === undefined ? undefined : head.length + source.sizeBytes + tail.length,
    bytes: bytes(),
  };
}
