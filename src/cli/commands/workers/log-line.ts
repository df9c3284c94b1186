import type { LogEntry, LogLevel } from "../../../shared/contract/worker-logs.js";
import type { Terminal } from "../../output/output.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

const colorOf: Readonly<Record<LogLevel, string>> = { debug: "2", info: "36", warn: "33", error: "31" };
const levelWidth = 5;

/**
 * Formats a log entry for a terminal: local time, level, daemon and version (if defined) and text. Indents the second and further lines of the text.
 */
export function entryForTerminal(entry: LogEntry, { hasColor }: Pick<Terminal, "hasColor">, shownVersion: string | undefined): string {
  const color = (code: string, text: string): string => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
  const time = localTime(new Date(entry.time), new Date());
  const version = [entry.instance, shownVersion].flatMap((part) => (part === undefined ? [] : `${sanitizeForTerminal(part)} `)).join("");
  const indent = " ".repeat(time.length + 1 + levelWidth + 1 + version.length);
  const lines = textLines(entry).map((line) => (entry.source === "runtime" ? color("2", line) : line));
  return `${color("2", time)} ${color(colorOf[entry.level], entry.level.padEnd(levelWidth))} ${version}${lines.join(`\n${indent}`)}`;
}

/**
 * Formats a log entry for a pipe: time, level, version, source, daemon (if defined) and text, separated by tabs. In the second and further lines of the text,
 * all other columns are empty.
 */
export function entryForPipe(entry: LogEntry): string {
  const [first, ...rest] = textLines(entry);
  const instance = entry.instance === undefined ? [] : [sanitizeForTerminal(entry.instance)];
  const columns = [new Date(entry.time).toISOString(), entry.level, sanitizeForTerminal(entry.version), entry.source, ...instance];
  return [[...columns, first].join("\t"), ...rest.map((line) => "\t".repeat(columns.length) + line)].join("\n");
}

/** Returns the JSON document of a log entry, with the time as text and as Unix milliseconds. */
export function entryDocument({ id, time, ...entry }: LogEntry): Record<string, unknown> {
  return { id, time: new Date(time).toISOString(), timeMilliseconds: time, ...entry };
}

/**
 * Returns the lines of a log entry's text. Escapes control characters, and replaces tabs, which are common in stack traces, with spaces.
 */
function textLines({ text }: LogEntry): string[] {
  return text.split("\n").map((line) => sanitizeForTerminal(line.replaceAll("\t", "    ")));
}

/** Formats a local time, such as `14:03:22.120`. Adds the date before the time if the date is not today. */
export function localTime(time: Date, now: Date): string {
  const clock = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;
  return time.toDateString() === now.toDateString() ? clock : `${localDay(time)} ${clock}`;
}

/** Formats the local date and time, such as `2026-01-31 14:03:22`. */
export function localDateTime(time: Date): string {
  return `${localDay(time)} ${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
}

function localDay(time: Date): string {
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}
