import { createHash, type Hash } from "node:crypto";

/**
 * A file must grow by this number of bytes before the next call of `onGrowth`. With smaller steps, unpacking a file during its upload would
 * save no time.
 */
const stepBytes = 512 * 1024;

/** An uploaded file that the daemon is writing to the spool. */
export class SpoolFile {
  readonly path: string;
  /** File name that the client sent, without folders. Empty until the file part begins. */
  filename = "";
  /** Number of bytes that the daemon has written to the file. */
  sizeBytes = 0;
  readonly #followers: ((sizeBytes: number) => void)[] = [];
  readonly #hash: Hash | undefined;
  #sha256: string | undefined;
  #reportedBytes = 0;

  /** If `isHashed` is true, computes the SHA-256 of the file while it arrives. */
  constructor(path: string, { isHashed = false }: { isHashed?: boolean } = {}) {
    this.path = path;
    this.#hash = isHashed ? createHash("sha256") : undefined;
  }

  /** Adds received bytes to the hash. */
  note(chunk: Buffer): void {
    this.#hash?.update(chunk);
  }

  /** Returns the SHA-256 of the complete file as hexadecimal text. Undefined if it was not computed. */
  sha256(): string | undefined {
    this.#sha256 ??= this.#hash?.digest("hex");
    return this.#sha256;
  }

  /**
   * Calls `onGrowth` with the file size each time that the file has grown by 512 KiB. If the file already has at least 512 KiB, also calls
   * `onGrowth` immediately.
   */
  follow(onGrowth: (sizeBytes: number) => void): void {
    this.#followers.push(onGrowth);
    if (this.#reportedBytes > 0) onGrowth(this.#reportedBytes);
  }

  grow(sizeBytes: number): void {
    this.sizeBytes = sizeBytes;
    if (sizeBytes < this.#reportedBytes + stepBytes) return;
    this.#reportedBytes = sizeBytes;
    for (const onGrowth of this.#followers) onGrowth(sizeBytes);
  }
}
