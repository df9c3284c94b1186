import type { LogEntry, LogLevel } from "../../../shared/contract/worker-logs.js";
import type { Terminal } from "../../output/output.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

const colorOf: Readonly<Record<LogLevel, string>> = { debug: "2", info: "36", warn: "33", error: "31" };
const levelWidth = 5;

/** An entry for people: local time, level, version where there are several, text. Further lines stand below the first. */
export function entryForTerminal(entry: LogEntry, { hasColor }: Pick<Terminal, "hasColor">, showVersion: boolean): string {
  const color = (code: string, text: string): string => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
  const time = localTime(new Date(entry.time), new Date());
  const version = showVersion ? `${sanitizeForTerminal(entry.version)} ` : "";
  const indent = " ".repeat(time.length + 1 + levelWidth + 1 + version.length);
  const lines = textLines(entry).map((line) => (entry.source === "runtime" ? color("2", line) : line));
  return `${color("2", time)} ${color(colorOf[entry.level], entry.level.padEnd(levelWidth))} ${version}${lines.join(`\n${indent}`)}`;
}

/** An entry for pipes: time, level, version, source and text between tabs; further lines of its text leave the other columns empty. */
export function entryForPipe(entry: LogEntry): string {
  const [first, ...rest] = textLines(entry);
  const head = [new Date(entry.time).toISOString(), entry.level, sanitizeForTerminal(entry.version), entry.source, first].join("\t");
  return [head, ...rest.map((line) => `\t\t\t\t${line}`)].join("\n");
}

/** An entry in a document: the time as text and as the number that the API gave. */
export function entryDocument({ id, time, ...entry }: LogEntry): Record<string, unknown> {
  return { id, time: new Date(time).toISOString(), timeMilliseconds: time, ...entry };
}

/** What comes from a worker may be meant to steer the terminal. Tabs are harmless, and common in stacks. */
function textLines({ text }: LogEntry): string[] {
  return text.split("\n").map((line) => sanitizeForTerminal(line.replaceAll("\t", "    ")));
}

/** `14:03:22.120`, with the day in front when it is another. */
export function localTime(time: Date, now: Date): string {
  const clock = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;
  return time.toDateString() === now.toDateString() ? clock : `${localDay(time)} ${clock}`;
}

/** `2026-01-31 14:03:22`. */
export function localDateTime(time: Date): string {
  return `${localDay(time)} ${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
}

function localDay(time: Date): string {
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
}

function pad(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}
