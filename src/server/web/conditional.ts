import type { IncomingHttpHeaders } from "node:http";

interface Validators {
  readonly etag: string;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
}

/** Returns whether the client already has the current content of a file. The response is then 304. */
export function isUnchanged(headers: IncomingHttpHeaders, file: Validators): boolean {
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    return (
      ifNoneMatch === file.etag ||
      ifNoneMatch.trim() === "*" ||
      ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === file.etag)
    );
  }
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return Number.isFinite(since) && wholeSeconds(file.modifiedMs) <= since;
}

/**
 * Returns the requested range in bytes. Undefined if the daemon must send the whole file. Ignores several ranges and units other than
 * bytes, which RFC 9110, section 14.2, allows.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  file: Validators,
): { start: number; end: number } | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(headers.range?.trim() ?? "");
  if (!match || (match[1] === "" && match[2] === "") || !isRangeFresh(headers["if-range"], file)) return undefined;
  const last = file.sizeBytes - 1;
  if (match[1] === "") {
    const length = Number(match[2]);
    if (length === 0 || last < 0) return "unsatisfiable";
    return { start: Math.max(0, file.sizeBytes - length), end: last };
  }
  const start = Number(match[1]);
  const end = match[2] === "" ? last : Math.min(Number(match[2]), last);
  if (match[2] !== "" && Number(match[2]) < start) return undefined;
  return start > last ? "unsatisfiable" : { start, end };
}

function isRangeFresh(ifRange: string | string[] | undefined, file: Validators): boolean {
  if (typeof ifRange !== "string") return true;
  if (ifRange.includes('"')) return ifRange.trim() === file.etag;
  return Date.parse(ifRange) === wholeSeconds(file.modifiedMs);
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
