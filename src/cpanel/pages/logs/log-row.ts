import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import type { EventType, RuntimeEvent } from "../../../shared/contract/events.js";

/** Events that the log shows between its entries, with their words. */
export const markWords = {
  "worker.installed": "Deployed",
  "worker.enabled": "Enabled",
  "worker.disabled": "Disabled",
  "worker.restarted": "Restarted",
  "worker.crashed": "Crashed",
  "worker.start-failed": "Failed to start",
} as const satisfies Partial<Record<EventType, string>>;

export type MarkType = keyof typeof markWords;

/** An event in the log. */
export interface LogMark {
  readonly type: MarkType;
  /** Name and version of the worker, as far as the event has them. */
  readonly subject: string;
  /** Name of the key that caused the event. */
  readonly by?: string | undefined;
  readonly message?: string | undefined;
}

/** One row of the log: an entry or an event. */
export interface LogRow {
  /** Unique among the rows. */
  readonly key: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly entry?: LogEntry;
  readonly mark?: LogMark;
  /** Text of the closed row, in which each stack is folded to its first own frame. */
  readonly text: string;
  /** Number of stack frames that `text` leaves out. */
  readonly foldedFrames: number;
  /** Number of lines of `text`. */
  readonly lines: number;
  /** Measured height in CSS pixels. 0 until the row was visible. */
  heightPx: number;
}

export function entryRow(entry: LogEntry): LogRow {
  const { text, foldedFrames } = foldStacks(entry.text.replace(/\n+$/, ""));
  return { key: `entry ${entry.id}`, at: entry.time, entry, text, foldedFrames, lines: linesIn(text), heightPx: 0 };
}

/** Returns the row of an event. Undefined for an event that the log does not show. */
export function markRow({ id, type, at, subject, principal, message }: RuntimeEvent): LogRow | undefined {
  if (!isMark(type)) return undefined;
  const mark = { type, subject: [subject?.name, subject?.version].filter(Boolean).join(" "), by: principal?.name, message };
  return { key: `event ${id}`, at, mark, text: "", foldedFrames: 0, lines: 1, heightPx: 0 };
}

function isMark(type: string): type is MarkType {
  return Object.hasOwn(markWords, type);
}

const frame = /^\s+at /;
/** Frames inside Node.js and of dependencies, which do not name the faulty line. */
const foreign = /\bnode:|\/node_modules\/|<anonymous>\)?$/;

/** Folds each stack in a text to its first own frame, or to its first frame if no frame is from the app. */
export function foldStacks(text: string): { readonly text: string; readonly foldedFrames: number } {
  if (!text.includes("\n")) return { text, foldedFrames: 0 };
  const kept: string[] = [];
  let foldedFrames = 0;
  let stack: string[] = [];
  const endStack = () => {
    const [first] = stack;
    if (first === undefined) return;
    kept.push(stack.find((line) => !foreign.test(line)) ?? first);
    foldedFrames += stack.length - 1;
    stack = [];
  };
  for (const line of text.split("\n")) {
    if (frame.test(line)) stack.push(line);
    else {
      endStack();
      kept.push(line);
    }
  }
  endStack();
  return foldedFrames === 0 ? { text, foldedFrames } : { text: kept.join("\n"), foldedFrames };
}

function linesIn(text: string): number {
  let lines = 1;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) lines += 1;
  return lines;
}

/** Returns an entry as a line of text: time in UTC, level, worker, version, text. */
export function entryText({ time, level, worker, version, text }: LogEntry): string {
  return `${new Date(time).toISOString()} ${level} ${worker} ${version} ${text}`;
}
