import { createReadStream } from "node:fs";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { pipeline, Transform } from "node:stream";
import type { BlobStore } from "./blob-store.js";
import { ProgressLimit } from "./progress-limit.js";
import { asRegistryError, discard, stallLimitMs, textOf, type RegistryClient } from "./registry-client.js";
import { RegistryError } from "./registry-error.js";
import { writeVerified, type Digest, type ExpectedBlob } from "./verified-download.js";

type Blob = Parameters<BlobStore["put"]>[0];
type Response = Awaited<ReturnType<RegistryClient["send"]>>;

const manifestMediaType = "application/vnd.oci.image.manifest.v1+json";
const artifactType = "application/vnd.runtimed.package.v1";
const emptyMediaType = "application/vnd.oci.empty.v1+json";
const emptyConfig = "{}";
/** Lowest assumed speed at which a registry computes the digest of an upload, in bytes per ms. */
const slowestCommitBytesPerMs = 20_000;
/** Codes of a lost connection. */
const connectionCodes: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "ETIMEDOUT"]);
/** Statuses after a deletion, and statuses of a registry that does not delete. All other statuses are errors. */
const removedStatuses: ReadonlySet<number> = new Set([200, 202, 404]);
const unsupportedStatuses: ReadonlySet<number> = new Set([400, 405, 501]);
/** Maximum number of characters of a registry's error message in an error of the daemon. */
const longestMessage = 200;

/**
 * Archives in one repository of an OCI registry. Each archive is the only layer of a manifest with the tag `sha256-<64 hex>`, so that the
 * garbage collection of the registry keeps it.
 */
export class OciBlobStore implements BlobStore {
  readonly #client: RegistryClient;

  constructor(client: RegistryClient) {
    this.#client = client;
  }

  async has(digest: Digest): Promise<boolean> {
    const [blob, manifest] = await Promise.all([this.#exists(`blobs/${digest}`), this.#exists(`manifests/${tagOf(digest)}`)]);
    return blob && manifest;
  }

  async put(blob: Blob): Promise<void> {
    if (await this.has(blob.digest)) return;
    const config = { digest: digestOf(emptyConfig), sizeBytes: Buffer.byteLength(emptyConfig) };
    await this.#putBlob(config, () => emptyConfig);
    await this.#putBlob(blob, (limit) => readCounted(blob, limit));
    await this.#putManifest(blob, config);
  }

  async get(blob: ExpectedBlob, into: string): Promise<void> {
    await this.#call(async (limit) => {
      const response = await this.#client.send(this.#client.urlOf(`blobs/${blob.digest}`), { method: "GET", limit });
      if (response.statusCode === 404) {
        await discard(response);
        throw new RegistryError("missing", `does not have the blob ${blob.digest}`);
      }
      if (response.statusCode !== 200) throw await rejection(response, limit);
      try {
        await writeVerified(response.body, blob, into, limit);
      } catch (error) {
        response.body.destroy();
        await rm(into, { force: true });
        throw isOfDisk(error) ? error : asRegistryError(error, limit);
      }
    });
  }

  async remove(digest: Digest): Promise<"removed" | "unsupported"> {
    const manifest = await this.#manifestDigest(digest);
    const resources = [...(manifest === undefined ? [] : [`manifests/${manifest}`]), `blobs/${digest}`];
    for (const resource of resources) {
      const status = await this.#call(async (limit) => {
        const response = await this.#client.send(this.#client.urlOf(resource), { method: "DELETE", limit });
        if (!removedStatuses.has(response.statusCode) && !unsupportedStatuses.has(response.statusCode))
          throw await rejection(response, limit);
        await discard(response);
        return response.statusCode;
      });
      if (unsupportedStatuses.has(status)) return "unsupported";
    }
    return "removed";
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #exists(resource: string): Promise<boolean> {
    return await this.#call(async (limit) => {
      const response = await this.#client.send(this.#client.urlOf(resource), {
        method: "HEAD",
        headers: { accept: manifestMediaType },
        limit,
      });
      if (response.statusCode !== 200 && response.statusCode !== 404) throw await rejection(response, limit);
      await discard(response);
      return response.statusCode === 200;
    });
  }

  async #manifestDigest(digest: Digest): Promise<string | undefined> {
    return await this.#call(async (limit) => {
      const url = this.#client.urlOf(`manifests/${tagOf(digest)}`);
      const response = await this.#client.send(url, { method: "GET", headers: { accept: manifestMediaType }, limit });
      const text = await textOf(response, limit);
      return response.statusCode === 200 ? digestOf(text) : undefined;
    });
  }

  async #putBlob({ digest, sizeBytes }: ExpectedBlob, bodyFor: (limit: ProgressLimit) => Transform | string): Promise<void> {
    if (await this.#exists(`blobs/${digest}`)) return;
    await this.#call(async (limit) => {
      const uploads = this.#client.urlOf("blobs/uploads/");
      const begun = await this.#client.send(uploads, { method: "POST", headers: { "content-length": "0" }, limit });
      if (begun.statusCode !== 202) throw await rejection(begun, limit);
      await discard(begun);
      const { href, search } = this.#client.locationOf(begun, uploads);
      const target = new URL(`${href}${search === "" ? "?" : "&"}digest=${encodeURIComponent(digest)}`);
      const stored = await this.#client.send(target, {
        method: "PUT",
        headers: { "content-type": "application/octet-stream", "content-length": String(sizeBytes) },
        body: () => bodyFor(limit),
        limit,
      });
      if (stored.statusCode !== 201) throw await rejection(stored, limit);
      await discard(stored);
    });
  }

  async #putManifest({ digest, sizeBytes, mediaType }: Blob, config: ExpectedBlob): Promise<void> {
    const text = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestMediaType,
      artifactType,
      config: { mediaType: emptyMediaType, digest: config.digest, size: config.sizeBytes },
      layers: [{ mediaType, digest, size: sizeBytes }],
    });
    await this.#call(async (limit) => {
      const url = this.#client.urlOf(`manifests/${tagOf(digest)}`);
      const headers = { "content-type": manifestMediaType };
      const response = await this.#client.send(url, { method: "PUT", headers, body: () => text, limit });
      if (response.statusCode !== 201) throw await rejection(response, limit);
      await discard(response);
    });
  }

  async #call<Result>(work: (limit: ProgressLimit) => Promise<Result>): Promise<Result> {
    const limit = new ProgressLimit(stallLimitMs);
    try {
      return await work(limit);
    } finally {
      limit.end();
    }
  }
}

/** Returns the tag of the manifest for an archive. */
function tagOf(digest: Digest): string {
  return digest.replace(":", "-");
}

function digestOf(text: string): Digest {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Returns a stream of the file. An error of either stream ends both, so that no file stays open. */
function readCounted({ file, sizeBytes }: Blob, limit: ProgressLimit): Transform {
  const stream = counted(limit, sizeBytes);
  pipeline(createReadStream(file), stream, () => undefined);
  return stream;
}

/**
 * Returns a stream that restarts the time limit with each part. After the last byte, the time limit is longer, because the registry
 * computes the digest.
 */
function counted(limit: ProgressLimit, sizeBytes: number): Transform {
  return new Transform({
    flush(done) {
      limit.refresh(stallLimitMs + sizeBytes / slowestCommitBytesPerMs);
      done();
    },
    transform(part: Buffer, _encoding, done) {
      limit.refresh();
      done(null, part);
    },
  });
}

/** Returns the error for a response with an unexpected status. Contains the code and the message of the registry. */
async function rejection(response: Response, limit: ProgressLimit): Promise<RegistryError> {
  const text = await textOf(response, limit);
  const { statusCode } = response;
  const [, message = ""] = /"message"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  const what = `answered with status ${statusCode}${message === "" ? "" : ` (${message.slice(0, longestMessage)})`}`;
  return new RegistryError(statusCode === 401 || statusCode === 403 ? "unauthorised" : "unexpected", what);
}

/**
 * Returns whether an error comes from the local disk. An error of the connection can also name the system call `write`, but has a code of a
 * lost connection.
 */
function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error) || !("syscall" in error) || ("code" in error && connectionCodes.has(String(error.code)))) return false;
  return ["write", "open", "fsync", "close"].includes(String(error.syscall));
}
