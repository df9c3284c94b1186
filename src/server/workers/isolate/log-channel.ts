import { cutText } from "../protocol/cut-text.js";
import { describeError } from "./describe-error.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { FrameKind, LogCode } from "../protocol/frames.js";
import { OutputLimiter } from "../protocol/output-limiter.js";

/** While so much waits for the daemon to read it, output is dropped rather than kept. */
const mostQueuedBytes = 1024 * 1024;

export interface LogChannelOptions {
  readonly writer: FrameWriter;
  /** What the socket holds that the daemon has not read yet. */
  readonly queuedBytes: () => number;
  /** Makes positions those of the sources, and takes away what tells about the machine. */
  readonly tidy: (text: string) => string;
}

/** The way of the app's output to the daemon, in order with everything else that goes there. What is too much is counted and lost. */
export class LogChannel {
  readonly #options: LogChannelOptions;
  readonly #budget = new OutputLimiter((count) => this.#send(LogCode.Dropped, String(count)));

  constructor(options: LogChannelOptions) {
    this.#options = options;
  }

  write(code: LogCode, text: string): void {
    if (this.#options.queuedBytes() > mostQueuedBytes) return this.#budget.drop();
    if (!this.#budget.admits(text.length)) return;
    this.#send(code, this.#options.tidy(cutText(text)));
  }

  /** An error that nobody else will tell of. */
  readonly report = (error: unknown): void => this.write(LogCode.Error, describeError(error));

  /** The process ends: tells what was dropped so far. */
  end(): void {
    this.#budget.report();
    this.#options.writer.flush();
  }

  #send(code: LogCode, text: string): void {
    const bytes = Buffer.allocUnsafeSlow(1 + Buffer.byteLength(text));
    bytes[0] = code;
    bytes.write(text, 1);
    this.#options.writer.bytes(FrameKind.Log, 0, bytes);
    // At once: the app may loop, or be out of memory, before this turn is over.
    this.#options.writer.flush();
  }
}
