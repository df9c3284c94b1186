import type { HostTarget } from "../../web/http-exchange.js";

/** No semver range that means anything is longer, in characters. */
const longestRange = 100;

const plainName = /^[a-z0-9][a-z0-9._~-]*$/;
const absoluteForm = /^https?:\/\/[^/?#]*/i;

/** A request target taken apart: whose it is and what is left of it for the app. */
export interface WorkerPath {
  /** `app` or `@scope/app`. */
  readonly name: string;
  /** What stands after `@`, decoded. */
  readonly range: string | undefined;
  /** The part that addresses the worker, as it was sent, without a trailing slash. */
  readonly base: string;
  /** Empty when only the base was asked for; else it starts with a slash. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

/** Reads the target of a request line; undefined when no worker can be meant. Names are compared as they are: an encoded name is no name. */
export function parseWorkerPath(target: string): WorkerPath | undefined {
  const relative = target.startsWith("/") ? target : absoluteForm.test(target) ? target.replace(absoluteForm, "") : "";
  if (relative === "" || relative.includes("#")) return undefined;
  const queryStart = relative.indexOf("?");
  const pathEnd = queryStart === -1 ? relative.length : queryStart;
  let baseEnd = segmentEnd(relative, 1, pathEnd);
  const scope = relative[1] === "@" ? relative.slice(1, baseEnd) : undefined;
  const nameStart = scope === undefined ? 1 : baseEnd + 1;
  if (nameStart >= pathEnd) return undefined;
  if (scope !== undefined) baseEnd = segmentEnd(relative, nameStart, pathEnd);
  const pinStart = relative.indexOf("@", nameStart);
  const isPinned = pinStart !== -1 && pinStart < baseEnd;
  const name = relative.slice(nameStart, isPinned ? pinStart : baseEnd);
  if (!plainName.test(name) || (scope !== undefined && !plainName.test(scope.slice(1)))) return undefined;
  const range = isPinned ? decodedRange(relative.slice(pinStart + 1, baseEnd)) : undefined;
  if (isPinned && range === undefined) return undefined;
  return {
    name: scope === undefined ? name : `${scope}/${name}`,
    range,
    base: relative.slice(0, baseEnd),
    path: relative.slice(baseEnd, pathEnd),
    query: relative.slice(pathEnd),
  };
}

/** The address of a request at a worker's own host, where the whole path is the worker's; undefined when the target is not a path. */
export function addressAtHost(target: string, { name, range }: HostTarget): WorkerPath | undefined {
  if (!target.startsWith("/") || target.includes("#")) return undefined;
  const queryStart = target.indexOf("?");
  const pathEnd = queryStart === -1 ? target.length : queryStart;
  return { name, range, base: "", path: target.slice(0, pathEnd), query: target.slice(pathEnd) };
}

/** Whether a request came to a host of the worker: then no other worker shares its origin. */
export function ownsOrigin({ base }: Pick<WorkerPath, "base">): boolean {
  return base === "";
}

function segmentEnd(text: string, from: number, limit: number): number {
  const slash = text.indexOf("/", from);
  return slash === -1 || slash > limit ? limit : slash;
}

function decodedRange(text: string): string | undefined {
  const range = decodedSegment(text);
  return range === undefined || range === "" || range.length > longestRange ? undefined : range;
}

/** A segment of a URL path, decoded; undefined when it is malformed or decodes to more than one segment or to control characters. */
export function decodedSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    // oxlint-disable-next-line no-control-regex -- control characters are what is refused
    return /[/\\\u0000-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
