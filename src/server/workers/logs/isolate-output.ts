import type { Readable } from "node:stream";
import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { FramePayload } from "../protocol/frame-reader.js";
import { LogCode } from "../protocol/frames.js";
import { longestLogText, createPathHider } from "../protocol/log-text.js";
import { OutputLimiter } from "../protocol/output-limiter.js";
import type { Log } from "../../log/log.js";
import type { WorkerLogs } from "./worker-logs.js";

/**
 * Factor between the output limits of the isolate and those of the daemon. It is 2, because one second of the isolate can overlap two
 * seconds of the daemon.
 */
const budgetShare = 2;
/** Maximum payload of a Log frame in bytes: the longest text in UTF-8, and one byte for the level. */
const longestPayloadBytes = longestLogText * 3 + 1;
const levelOfCode: Readonly<Record<number, LogLevel>> = {
  [LogCode.Debug]: "debug",
  [LogCode.Info]: "info",
  [LogCode.Warn]: "warn",
  [LogCode.Error]: "error",
};

const longestLine = 4096;
/**
 * Maximum rate of stdout or stderr. Above this rate, the daemon does not read for the rest of the second. The worker then loses lines, and
 * later its writes block.
 */
const bytesPerSecond = 1024 * 1024;

interface IsolateOutputOptions {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The sandbox folder of the isolate. Its path and the path `program` must not appear in the output of the worker. */
  readonly slot: string;
  readonly program: string;
  readonly onEntry: (level: LogLevel, text: string) => void;
  readonly onDropped: (text: string) => void;
}

/** The output of one isolate. Console entries arrive in order with the responses. Lines of stdout and stderr arrive separately. */
export class IsolateOutput {
  /** Resolves when stderr has closed. */
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

  /** Handles a Log frame. Throws if the frame is invalid. */
  onFrame({ buffer, start, end }: FramePayload): void {
    const code = buffer[start] as number;
    if (start === end || end - start > longestPayloadBytes || code > LogCode.Dropped)
      throw new Error("the isolate sent an invalid log entry");
    if (!this.#budget.admits(end - start)) return;
    const text = buffer.toString("utf8", start + 1, end);
    const level = levelOfCode[code];
    if (level) this.#options.onEntry(level, this.#hidePaths(text));
    else if (/^\d{1,9}$/.test(text)) this.#tellDropped(Number(text));
  }

  #tellDropped(count: number): void {
    this.#options.onDropped(`${count} more entries were dropped: the worker exceeded the output rate limit.`);
  }
}

/** Splits the text of stdout or stderr into lines, and limits the rate of the lines. */
function readOutputLines(stream: Readable, to: { onLine: (line: string) => void; onDropped: (count: number) => void }): void {
  const budget = new OutputLimiter(to.onDropped);
  let partial = "";
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  const emit = (line: string): void => {
    if (line === "" || !budget.admits(Math.min(line.length, longestLine))) return;
    to.onLine(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
  };
  const nextSecond = (): void => {
    timer = undefined;
    bytes = 0;
    stream.resume();
  };

  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    timer ??= setTimeout(nextSecond, 1000).unref();
    bytes += text.length;
    const parts = (partial + text).split("\n");
    partial = parts.pop() as string;
    if (partial.length > longestLine) partial = partial.slice(0, longestLine + 1);
    for (const part of parts) emit(part);
    if (bytes > bytesPerSecond) stream.pause();
  });
  stream.on("close", () => {
    emit(partial);
    clearTimeout(timer);
    budget.report();
  });
  stream.on("error", () => undefined);
}

interface WorkerOutputOptions {
  readonly logs: WorkerLogs;
  /** Child logger whose entries contain worker and version. */
  readonly log: Log;
  readonly name: string;
  readonly version: string;
  /** Receives the worker's own output. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Writes the output of one worker version to the worker's log and to the daemon's log. */
export class WorkerOutput {
  readonly #options: WorkerOutputOptions;
  readonly #budget = new OutputLimiter((count) => this.#write("warn", "runtime", `${count} more daemon notices were dropped.`));

  constructor(options: WorkerOutputOptions) {
    this.#options = options;
  }

  /**
   * Writes output or an error of the worker to the worker's log and to the daemon's log. The caller must limit the rate. In the daemon's
   * log, an error of a worker has the level `info`.
   */
  app(level: LogLevel, text: string): void {
    this.#options.onOutput?.(text);
    this.#write(level, "app", text);
    this.#options.log[level === "debug" ? "debug" : "info"]({ source: "app", appLevel: level }, text);
  }

  /** Writes a message of the daemon about the worker, such as a start or a kill, to both logs. Only the daemon's log contains `facts`. */
  runtime(level: LogLevel, text: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (!this.#budget.admits(text.length)) return;
    this.#write(level, "runtime", text);
    this.#options.log[level === "error" ? "warn" : level]({ source: "runtime", ...facts }, text);
  }

  #write(level: LogLevel, source: "app" | "runtime", text: string): void {
    const { logs, name, version } = this.#options;
    logs.write({ name, version, level, source, text });
  }
}
