/**
 * Size of the steps in which the growth of a file is reported. A smaller file is complete before an early start of the unpacking would
 * help.
 */
const stepBytes = 512 * 1024;

/** A file that is being written to the spool. */
export class SpoolFile {
  readonly path: string;
  /** Set when the file part begins. */
  filename = "";
  /** Number of bytes written so far. */
  sizeBytes = 0;
  readonly #followers: ((sizeBytes: number) => void)[] = [];
  #toldBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Calls `onGrowth` immediately if at least one step is complete, then after each further step. */
  follow(onGrowth: (sizeBytes: number) => void): void {
    this.#followers.push(onGrowth);
    if (this.#toldBytes > 0) onGrowth(this.#toldBytes);
  }

  grow(sizeBytes: number): void {
    this.sizeBytes = sizeBytes;
    if (sizeBytes < this.#toldBytes + stepBytes) return;
    this.#toldBytes = sizeBytes;
    for (const tell of this.#followers) tell(sizeBytes);
  }
}
