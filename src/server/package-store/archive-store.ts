import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, rm, stat } from "node:fs/promises";
import { ApiError } from "../../shared/api-error.js";
import type { ArchiveFormat } from "../packages/archive/unpack.js";
import { asStorageFailure } from "../platform/storage-full.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { BlobStore } from "../registry/blob-store.js";
import { RegistryError } from "../registry/registry-error.js";
import type { Digest } from "../registry/verified-download.js";

const mediaTypes: Readonly<Record<ArchiveFormat, string>> = {
  tar: "application/vnd.runtimed.package.v1.tar+gzip",
  zip: "application/vnd.runtimed.package.v1.zip",
};
/** Seconds after which a client can repeat a call that failed because of the registry. */
const repeatAfterSeconds = 5;

/** An archive in the registry. */
export interface StoredArchive {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly format: ArchiveFormat;
}

/** An archive between its arrival and its publication. */
export interface ReceivedArchive {
  /** Stores the archive in the registry. Throws PACKAGE_STORE_UNAVAILABLE. */
  send(): Promise<StoredArchive>;
  /** Deletes the daemon's own copy of the archive. Never throws. */
  discard(): Promise<void>;
}

/**
 * Upload of an archive: `send` stores the archive in the registry, then `publish` makes the archive visible with a description of its
 * package.
 */
interface ArchiveUpload<Publication> {
  send(): Promise<string>;
  publish(publication: Publication): Promise<void>;
  discard(): Promise<void>;
}

/** Returns the upload of a received archive. `publish` makes the archive visible for all daemons. */
export function uploadOf<Publication>(
  received: ReceivedArchive,
  publish: (publication: Publication, archive: StoredArchive) => Promise<void>,
): ArchiveUpload<Publication> {
  let sent: StoredArchive | undefined;
  return {
    send: async () => {
      sent = await received.send();
      return sent.digest;
    },
    publish: async (publication) => {
      if (!sent) throw new Error("the archive must be sent before it is published");
      await publish(publication, sent);
    },
    discard: () => received.discard(),
  };
}

/** Digest that no archive has, for a request that only shows whether the registry responds. */
const noArchive: Digest = `sha256:${"0".repeat(64)}`;
/** Time in ms for which the result of a check of the registry is valid. */
const checkedMs = 10_000;

/** Stores and fetches the archives of packages in the registry, and checks whether the registry responds. */
export class ArchiveStore {
  readonly #blobs: BlobStore;
  readonly #keep: (digest: string) => Promise<void>;
  #checkedAtMs = -Infinity;
  #problem: string | undefined;

  /** `keep` is called before an archive is sent, so that no daemon deletes it before its publication. */
  constructor(blobs: BlobStore, keep: (digest: string) => Promise<void>) {
    this.#blobs = blobs;
    this.#keep = keep;
  }

  /**
   * Returns the reason why the last upload, download or check failed at the registry, or undefined. Begins a check at most every 10 s and
   * does not wait for it. A successful check removes the reason.
   */
  problem(): string | undefined {
    if (performance.now() - this.#checkedAtMs > checkedMs) {
      this.#checkedAtMs = performance.now();
      void this.#blobs.has(noArchive).then(
        () => (this.#problem = undefined),
        (error: unknown) => this.#noteFailure(error as Error),
      );
    }
    return this.#problem;
  }

  /** Keeps a received archive until its publication. Must be called before the unpacker reads and deletes the archive. */
  async receive(file: UploadedFile, format: ArchiveFormat): Promise<ReceivedArchive> {
    const archive = `${file.path}.package`;
    // The unpacker deletes the archive, so the store keeps the archive under a second name.
    await link(file.path, archive).catch(async (error: unknown) => {
      await rm(file.path, { force: true });
      throw asStorageFailure(error);
    });
    return {
      send: async () => {
        await file.progress?.whole;
        return await this.#send(archive, format, file.sha256?.());
      },
      discard: () => rm(archive, { force: true }).catch(() => undefined),
    };
  }

  /** Returns whether the registry has an archive. Throws RegistryError. */
  has(digest: string): Promise<boolean> {
    return this.#blobs.has(digest as Digest);
  }

  /** Writes the verified archive of a package to the new file `into`. Throws PACKAGE_UNAVAILABLE, which contains the name. */
  async fetch({ digest, sizeBytes }: StoredArchive, name: string, into: string): Promise<void> {
    try {
      await this.#blobs.get({ digest: digest as Digest, sizeBytes }, into);
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause;
      this.#noteFailure(cause);
      const message = `The daemon cannot download the files of ${name}, because the registry ${cause.message}.`;
      throw new ApiError("PACKAGE_UNAVAILABLE", message, { cause, retryAfterSeconds: repeatAfterSeconds });
    }
  }

  /** Ends all calls to the registry. */
  async close(): Promise<void> {
    await this.#blobs.close();
  }

  #noteFailure({ message }: Error): void {
    this.#problem = `the registry ${message}`;
    this.#checkedAtMs = performance.now();
  }

  async #send(archive: string, format: ArchiveFormat, sha256: string | undefined): Promise<StoredArchive> {
    const digest: Digest = sha256 === undefined ? await digestOfFile(archive) : `sha256:${sha256}`;
    const { size: sizeBytes } = await stat(archive);
    await this.#keep(digest);
    try {
      await this.#blobs.put({ digest, sizeBytes, file: archive, mediaType: mediaTypes[format] });
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause;
      this.#noteFailure(cause);
      const message = `Nothing changed, because the registry ${cause.message}.`;
      throw new ApiError("PACKAGE_STORE_UNAVAILABLE", message, { cause, retryAfterSeconds: repeatAfterSeconds });
    }
    return { digest, sizeBytes, format };
  }
}

async function digestOfFile(file: string): Promise<Digest> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
