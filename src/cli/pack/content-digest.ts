import { createHash } from "node:crypto";
import type { PackedFile } from "./pack-plan.js";

/**
 * What is in a package, whatever says when and by whom it was packed: SHA-256 of path, NUL, size, NUL and content of each file, in the
 * order of the archive.
 */
export class ContentDigest {
  readonly #hash = createHash("sha256");
  #isReplaced = false;

  /** The content that comes next is this file's. */
  begin({ path, digestedAs }: PackedFile, sizeBytes: number): void {
    this.#isReplaced = digestedAs !== undefined;
    if (digestedAs === undefined) this.#hash.update(`${path}\0${sizeBytes}\0`);
    else if (digestedAs !== "") this.#hash.update(`${path}\0${Buffer.byteLength(digestedAs)}\0${digestedAs}`);
  }

  update(piece: Buffer): void {
    if (!this.#isReplaced) this.#hash.update(piece);
  }

  hex(): string {
    return this.#hash.digest("hex");
  }
}
