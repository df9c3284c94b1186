import type { ErrorCode } from "../../../shared/errors.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { ArchiveLimits } from "./archive-entry.js";
import type { ArchiveFormat } from "./unpack.js";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Last line that the daemon writes to the stdin of the unpacker. All earlier lines contain the number of received archive bytes. */
export const archiveIsWhole = "whole";

/** Input of the unpacker process, passed as JSON in its first argument. */
export interface UnpackJob {
  /** Path of the archive, which the unpacker deletes afterwards. */
  readonly archivePath: string;
  readonly format: ArchiveFormat;
  /** Path of an empty folder for the unpacked files. */
  readonly folder: string;
  readonly limits: ArchiveLimits;
}

/** Result of the unpacker process, written as JSON to stdout. */
export type UnpackResult =
  | { readonly root: string; readonly metadata: PackageMetadata }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }
  | { readonly failure: { readonly code: "INSUFFICIENT_STORAGE" | "INTERNAL_ERROR"; readonly reason: string } };

/** Counts the received bytes of an archive. The unpacker reads the archive while the daemon still receives it. */
export class ReceivedBytes {
  #sizeBytes = 0;
  readonly #waiting = new Set<() => void>();

  /** Creates a counter from the lines that the daemon writes to `input`. The last line is `archiveIsWhole`. */
  static readFrom(input: Readable): ReceivedBytes {
    const received = new ReceivedBytes();
    createInterface({ input }).on("line", (line) => received.update(line === archiveIsWhole ? Infinity : Number(line)));
    return received;
  }

  /** Records the number of received bytes. `Infinity` means that the archive is complete. */
  update(sizeBytes: number): void {
    this.#sizeBytes = sizeBytes;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Resolves when the daemon has received `sizeBytes` bytes or the complete archive. */
  async reach(sizeBytes: number): Promise<void> {
    while (this.#sizeBytes < sizeBytes) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
