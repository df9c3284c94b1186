/** Smaller files are complete before an early start would help. The growth of larger ones is reported in these steps. */
const stepBytes = 512 * 1024;

/** A file that is being written to the spool. */
export class SpoolFile {
  readonly path: string;
  /** Set when its part begins. */
  filename = "";
  /** Bytes written so far. */
  sizeBytes = 0;
  readonly #followers: ((sizeBytes: number) => void)[] = [];
  #toldBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Calls `onGrowth` at once if a step is complete, and after each further step. */
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
