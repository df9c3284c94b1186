import type { Answered } from "./dev-daemon.js";

const warnLevel = 40;

/** What a line of the local daemon's log says to a developer; undefined when it is nothing about the worker, and no trouble. */
export function describeLogLine(line: string): string | undefined {
  const entry = parse(line);
  if (entry === undefined) return line === "" ? undefined : line;
  const { worker, level, msg, source, err, path } = entry;
  if (typeof msg !== "string") return undefined;
  if (worker !== undefined && source === "app") return msg;
  // A call of the API that failed is ours, and we say so ourselves.
  if (typeof level !== "number" || level < warnLevel || path !== undefined) return undefined;
  const cause = (err as { message?: unknown } | undefined)?.message;
  return typeof cause === "string" ? `${msg}\n${cause}` : msg;
}

export function describeResponse({ method, target, status, durationMs }: Answered): string {
  return `${method} ${target} ${status} ${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
