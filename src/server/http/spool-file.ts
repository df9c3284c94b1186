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
  #toldBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Calls `onGrowth` with the file size each time that the file has grown by 512 KiB. If the file already has at least this size, also
   * calls it immediately.
   */
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
