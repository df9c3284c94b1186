import { SonicBoom } from "sonic-boom";

/**
 * Maximum number of bytes that wait while stdout is blocked, for example by a full disk or a slow reader. The daemon drops further lines.
 */
const mostWaitingBytes = 1024 * 1024;
/** Time limit for writing the last lines when the daemon exits, so that a blocked stdout does not prevent the exit. */
const lastLinesTimeoutMs = 1000;

/**
 * Adds the form of `write` with a buffer, which the type declarations of SonicBoom omit. With strings, SonicBoom would measure all waiting
 * text again for each line.
 */
type BufferedLines = Omit<SonicBoom, "write"> & { write(line: Buffer): boolean };

/**
 * Writes log lines to stdout. A slow or missing reader does not block the daemon. After a failed write, the next line starts another
 * attempt.
 */
export class LogOutput {
  /** Called with the number of dropped lines when stdout accepts lines again. */
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
    this.#destination.on("drain", () => this.#reportLost());
  }

  write(line: string): void {
    if (!this.#hasEnded) this.#destination.write(Buffer.from(line));
  }

  /** Writes all remaining lines. Resolves when all lines are written, at most 1 s later. Drops lines that are logged after this call. */
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

  #reportLost(): void {
    if (this.#lost === 0) return;
    const count = this.#lost;
    this.#lost = 0;
    this.onLost(count);
  }
}
