import { SonicBoom } from "sonic-boom";

/** What waits while stdout takes nothing: a file on a full disk, somebody who reads too slowly. What goes past it is lost. */
const mostWaitingBytes = 1024 * 1024;
/** How long the last lines may take when the daemon ends. */
const lastLinesTimeoutMs = 1000;

/** Takes bytes in its mode for them, which its types leave out. Of text it would count all that waits again with each line. */
type BufferedLines = Omit<SonicBoom, "write"> & { write(line: Buffer): boolean };

/**
 * Lines to stdout. They are written beside the daemon's work, so whoever reads them slowly, or not at all, holds up nobody; a line that
 * cannot be written ends nothing, and the next one tries again, with those that wait.
 */
export class LogOutput {
  /** Called with how many lines were lost, once stdout takes lines again. */
  onLost: (count: number) => void = () => undefined;
  readonly #destination = new SonicBoom({
    fd: 1,
    sync: false,
    maxLength: mostWaitingBytes,
    contentMode: "buffer",
  }) as unknown as BufferedLines;
  #lost = 0;
  #hasEnded = false;

  constructor() {
    this.#destination.on("error", () => undefined);
    this.#destination.on("drop", () => (this.#lost += 1));
    this.#destination.on("drain", () => this.#tellLost());
  }

  write(line: string): void {
    if (!this.#hasEnded) this.#destination.write(Buffer.from(line));
  }

  /** Resolves when all that was written has been taken, or nobody takes it. What is written after it is lost. */
  end(): Promise<void> {
    this.#hasEnded = true;
    return new Promise((resolve) => {
      const destination = this.#destination;
      destination.once("close", resolve);
      destination.end();
      const giveUp = (): void => destination.destroy();
      setTimeout(giveUp, lastLinesTimeoutMs);
      destination.once("error", giveUp);
    });
  }

  #tellLost(): void {
    if (this.#lost === 0) return;
    const count = this.#lost;
    this.#lost = 0;
    this.onLost(count);
  }
}
