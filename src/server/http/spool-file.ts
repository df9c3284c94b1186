/** A smaller file is whole before beginning with it would be worth anything; of a larger one, growth is told in such steps. */
const stepBytes = 512 * 1024;

/** A file that is being written to the spool, and how far it has come. */
export class SpoolFile {
  readonly path: string;
  /** Known when its part begins. */
  filename = "";
  /** Written by now. */
  sizeBytes = 0;
  readonly #followers: ((sizeBytes: number) => void)[] = [];
  #toldBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Calls at once, when there is something worth telling, and whenever the file has grown by a step. */
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
