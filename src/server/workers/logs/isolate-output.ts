import type { Readable } from "node:stream";
import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { FramePayload } from "../protocol/frame-reader.js";
import { LogCode } from "../protocol/frames.js";
import { longestLogText } from "../protocol/cut-text.js";
import { createPathHider } from "../protocol/machine-paths.js";
import { OutputLimiter } from "../protocol/output-limiter.js";
import { readOutputLines } from "./output-lines.js";

/** A second of the isolate may lie in two of ours, so it gets twice of what it gives itself. */
const budgetShare = 2;
/** UTF-8 of the longest text. */
const longestPayloadBytes = longestLogText * 3 + 1;
const levelOfCode: Readonly<Record<number, LogLevel>> = {
  [LogCode.Debug]: "debug",
  [LogCode.Info]: "info",
  [LogCode.Warn]: "warn",
  [LogCode.Error]: "error",
};

export interface IsolateOutputOptions {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Folders that must not show in what an app writes. */
  readonly slot: string;
  readonly program: string;
  readonly onEntry: (level: LogLevel, text: string) => void;
  readonly onDropped: (text: string) => void;
}

/** All that one isolate writes: entries of its console in order with its answers, and what goes past the console, by line. */
export class IsolateOutput {
  /** Nothing more comes past the console. */
  readonly ended: Promise<unknown>;
  readonly #options: IsolateOutputOptions;
  readonly #budget: OutputLimiter;
  readonly #hidePaths: (text: string) => string;

  constructor(options: IsolateOutputOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => options.stderr.once("close", resolve));
    this.#hidePaths = createPathHider(options);
    this.#budget = new OutputLimiter((count) => this.#tellDropped(count), budgetShare);
    for (const [stream, level] of [[options.stdout, "info"] as const, [options.stderr, "error"] as const]) {
      const onLine = (line: string): void => options.onEntry(level, this.#hidePaths(line));
      readOutputLines(stream, { onLine, onDropped: (count) => this.#tellDropped(count) });
    }
  }

  /** Takes a Log frame; throws when it breaks the rules of the channel. */
  onFrame({ buffer, start, end }: FramePayload): void {
    const code = buffer[start] as number;
    if (start === end || end - start > longestPayloadBytes || code > LogCode.Dropped) throw new Error("it sent an entry that is none");
    if (!this.#budget.admits(end - start)) return;
    const text = buffer.toString("utf8", start + 1, end);
    const level = levelOfCode[code];
    if (level) this.#options.onEntry(level, this.#hidePaths(text));
    else if (/^\d{1,9}$/.test(text)) this.#tellDropped(Number(text));
  }

  #tellDropped(count: number): void {
    this.#options.onDropped(`${count} more entries were dropped: it wrote too much at once.`);
  }
}
