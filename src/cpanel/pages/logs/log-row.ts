import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import type { EventType, RuntimeEvent } from "../../../shared/contract/events.js";

/** Types of events that the log shows between its entries, each with a text. */
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
  /** Name and version of the worker. Undefined if the event does not contain them. */
  readonly subject: string;
  /** Name of the key that caused the event. */
  readonly by?: string | undefined;
  /** Name of the daemon. Undefined if there is only one daemon. */
  readonly instance?: string | undefined;
  readonly message?: string | undefined;
}

/** One row of the log: an entry or an event. */
export interface LogRow {
  /** Identifier that is unique among entries and events together. */
  readonly key: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly entry?: LogEntry;
  readonly mark?: LogMark;
  /** Text of the closed row. Instead of each stack trace, the text contains only the first stack frame from the app's own code. */
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
  return { key: rowKey("entry", entry, entry.time), at: entry.time, entry, text, foldedFrames, lines: linesIn(text), heightPx: 0 };
}

/** Returns the row of an event. Undefined for an event that the log does not show. */
export function markRow(event: RuntimeEvent): LogRow | undefined {
  const { type, at, subject, principal, instance, message } = event;
  if (!isMark(type)) return undefined;
  const mark = { type, subject: [subject?.name, subject?.version].filter(Boolean).join(" "), by: principal?.name, instance, message };
  return { key: rowKey("event", event, at), at, mark, text: "", foldedFrames: 0, lines: 1, heightPx: 0 };
}

interface KeyedEntry {
  readonly id: number;
  readonly instance?: string | undefined;
  readonly isNotice?: boolean | undefined;
}

/** Returns the identifier of a row. Entries of different daemons can have the same id. `atMs` is the time of the entry in Unix milliseconds. */
export function rowKey(kind: "entry" | "event" | "audit", { id, instance, isNotice }: KeyedEntry, atMs: number): string {
  const key = isNotice ? `notice at ${atMs}` : String(id);
  return instance === undefined ? `${kind} ${key}` : `${kind} ${key} of ${instance}`;
}

function isMark(type: string): type is MarkType {
  return Object.hasOwn(markWords, type);
}

const frame = /^\s+at /;
/** Matches stack frames inside Node.js or of dependencies. Such frames do not show the faulty line. */
const foreign = /\bnode:|\/node_modules\/|<anonymous>\)?$/;

/**
 * Replaces each stack trace in a text with its first frame from the app's code. Without such a frame, keeps the first frame of the stack
 * trace.
 */
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

/** Returns an entry as a line of text: time in UTC, level, daemon (if there are others), worker, version, text. */
export function entryText({ time, level, instance, worker, version, text }: LogEntry): string {
  return [new Date(time).toISOString(), level, ...(instance === undefined ? [] : [instance]), worker, version, text].join(" ");
}
