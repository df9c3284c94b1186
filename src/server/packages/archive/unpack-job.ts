import type { ErrorCode } from "../../../shared/errors.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { ArchiveLimits } from "./archive-entry.js";
import type { ArchiveFormat } from "./unpack.js";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** What the unpacking process is told on stdin, line by line: how many bytes of the archive are there, and this when all are. */
export const archiveIsWhole = "whole";

/** What the unpacking process is told, as JSON in its first argument. */
export interface UnpackJob {
  /** Deleted once it is unpacked. */
  readonly archivePath: string;
  readonly format: ArchiveFormat;
  /** An empty folder. */
  readonly folder: string;
  readonly limits: ArchiveLimits;
}

/** What the unpacking process says before it ends, as JSON on stdout. */
export type UnpackResult =
  | { readonly root: string; readonly metadata: PackageMetadata }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }
  | { readonly failure: { readonly code: "INSUFFICIENT_STORAGE" | "INTERNAL_ERROR"; readonly reason: string } };

/** How much of the archive is there, while it is read. */
export class Arrival {
  #sizeBytes = 0;
  readonly #waiting = new Set<() => void>();

  /** As the daemon tells it, see `archiveIsWhole`. */
  static toldBy(input: Readable): Arrival {
    const arrival = new Arrival();
    createInterface({ input }).on("line", (line) => arrival.tell(line === archiveIsWhole ? Infinity : Number(line)));
    return arrival;
  }

  /** So many bytes are there; Infinity = all. */
  tell(sizeBytes: number): void {
    this.#sizeBytes = sizeBytes;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Waits until so many bytes are there, or all. */
  async reach(sizeBytes: number): Promise<void> {
    while (this.#sizeBytes < sizeBytes) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
