import { Console } from "node:console";
import { Writable } from "node:stream";
import { LogCode } from "../protocol/frames.js";

/**
 * Log levels of the console methods that do not log at `info`. `console.trace` does not log at `error`, because it is an aid for debugging.
 */
const codeOfMethod = { debug: LogCode.Debug, trace: LogCode.Debug, warn: LogCode.Warn, error: LogCode.Error } as const;

/** Maximum number of unread bytes in stdout or stderr. The isolate drops further output. */
const mostQueuedBytes = 1024 * 1024;

type Method = (...values: unknown[]) => void;

/**
 * Makes the global console write log entries with a level. Node.js still formats the values and handles groups, counters and timers.
 * `node:console` exports the same object.
 */
export function installConsole(write: (code: LogCode, text: string) => void): void {
  let code: LogCode = LogCode.Info;
  const sink = new EntrySink((text) => write(code, text));
  const own = new Console({ stdout: sink, stderr: sink });
  const methods = own as unknown as Record<string, Method>;
  for (const [name, codeOfOne] of Object.entries(codeOfMethod)) {
    const native = methods[name] as Method;
    methods[name] = (...values) => {
      const outer = code;
      code = name === "error" && isTrace(outer) ? outer : codeOfOne;
      try {
        native(...values);
      } finally {
        code = outer;
      }
    };
  }
  Object.assign(globalThis.console, own);
}

/**
 * Returns whether `code`, the level of the running method, is the level of `console.trace`. In Node.js, `console.trace` calls
 * `console.error`.
 */
function isTrace(code: LogCode): boolean {
  return code === LogCode.Debug;
}

/** Receives one text per call of a console method. */
class EntrySink extends Writable {
  readonly #take: (text: string) => void;

  constructor(take: (text: string) => void) {
    super({ decodeStrings: false });
    this.#take = take;
  }

  override write(chunk: unknown): boolean {
    this.#take(String(chunk).replace(/\n$/, ""));
    return true;
  }
}

/**
 * Limits the unread output, which would otherwise fill the memory of the worker. Calls `onLoss` each time the output begins to exceed the
 * limit.
 */
export function boundOutput(stream: Writable, onLoss: () => void): void {
  const write = stream.write.bind(stream) as (...rest: unknown[]) => boolean;
  let isLosing = false;
  stream.write = (...rest: unknown[]): boolean => {
    const isFull = stream.writableLength > mostQueuedBytes;
    if (isFull && !isLosing) onLoss();
    isLosing = isFull;
    if (!isFull) return write(...rest);
    const callback = rest.at(-1);
    if (typeof callback === "function") process.nextTick(callback);
    return false;
  };
}
