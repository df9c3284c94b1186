import { decodedSegment } from "../../web/file-path.js";
import type { HostTarget } from "../../web/http-exchange.js";

/** Maximum length of a version range in characters. Clients choose the ranges, and every useful range is shorter. */
const longestRange = 100;

const plainName = /^[a-z0-9][a-z0-9._~-]*$/;
const absoluteForm = /^https?:\/\/[^/?#]*/i;

/** A parsed request target: the worker's name and the path within the worker. */
export interface WorkerPath {
  /** Name of the worker: `app` or `@scope/app`. */
  readonly name: string;
  /** Decoded version range after the `@`. Undefined if the target contains no range. */
  readonly range: string | undefined;
  /** Part of the target that selects the worker, without a trailing slash. Not decoded. */
  readonly base: string;
  /** Path below `base`. Starts with a slash, or is empty if the target equals `base`. */
  readonly path: string;
  /** The query string with its `?`, or an empty string. */
  readonly query: string;
}

/** Returns the address of a target below a worker's base path, such as `/report?day=1`, for requests that the daemon itself creates. */
export function addressOfTarget(name: string, target: string): WorkerPath {
  const [path = "/", ...query] = target.split("?");
  return { name, range: undefined, base: `/${name}`, path, query: query.length === 0 ? "" : `?${query.join("?")}` };
}

/**
 * Parses a request target. Returns undefined if the target cannot select a worker. Does not decode names, so a percent-encoded name matches
 * no worker.
 */
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

/** Returns the address of a request to a worker's host name. `base` is empty. Returns undefined if the target is not a path. */
export function addressAtHost(target: string, { name, range }: HostTarget): WorkerPath | undefined {
  if (!target.startsWith("/") || target.includes("#")) return undefined;
  const queryStart = target.indexOf("?");
  const pathEnd = queryStart === -1 ? target.length : queryStart;
  return { name, range, base: "", path: target.slice(0, pathEnd), query: target.slice(pathEnd) };
}

/** Returns whether a request was sent to a host name of the worker. The origin of this request then belongs to the worker alone. */
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
