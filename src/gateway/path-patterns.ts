import type { AppInfo } from "../plugin/index.js";

/** Returns the reason why a text is not a valid path pattern, or undefined for a valid pattern. */
export function patternProblem(pattern: string): string | undefined {
  if (!pattern.startsWith("/")) return "must begin with a slash";
  if (/[?#\s]/.test(pattern)) return "must be a path without a query, a fragment or white space";
  if (pattern.split("/").some((segment) => segment.includes("**") && segment !== "**")) return "must have ** as a whole segment";
  return undefined;
}

/**
 * The path patterns of one rule. `*` matches any part of one segment, and `**` matches any number of segments, including none. The number
 * of steps is at most the pattern length times the path length.
 */
export class PathPatterns {
  readonly #patterns: readonly (readonly string[])[];

  /** An empty list of patterns matches every path. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => segmentsOf(withoutLastSlash(pattern)));
  }

  match({ sent, canonical }: RulePath): boolean {
    return this.#patterns.length === 0 || this.#matches(sent) || (canonical !== sent && this.#matches(canonical));
  }

  #matches(path: string): boolean {
    const segments = segmentsOf(path);
    return this.#patterns.some((pattern) => matchAll(pattern, segments, "**", matchSegment));
  }
}

/** Path of a request in canonical form. Without this form, a client could evade a rule by another spelling of the path. */
export interface RulePath {
  /** The decoded path with single slashes and without a trailing slash. A sequence with invalid percent-encoding stays unchanged. */
  readonly sent: string;
  /** The path `sent` without the worker's version: `/shop@1.2.0/cart` becomes `/shop/cart`. */
  readonly canonical: string;
}

export function readRulePath(url: string, app: AppInfo | undefined): RulePath {
  const path = decoded(pathOf(url));
  const sent = withoutLastSlash(path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path);
  if (app?.kind !== "worker" || !sent.startsWith(`/${app.name}@`)) return { sent, canonical: sent };
  const below = segmentsOf(sent).slice(app.name.split("/").length);
  return { sent, canonical: `/${[app.name, ...below].join("/")}` };
}

/**
 * Returns the path of a URL. Only dots and backslashes make the parsed path differ from the text, so other URLs are not parsed. Parsing
 * takes as long as the rest of the check.
 */
function pathOf(url: string): string {
  const written = /^[a-z]+:\/\/[^/?#\\]+(\/[^?#]*)/.exec(url)?.[1];
  return written === undefined || /\\|\/\.|\/%2e/i.test(written) ? new URL(url).pathname : written;
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path.replaceAll(/%[2-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

function matchSegment(pattern: string, segment: string): boolean {
  if (!pattern.includes("*")) return pattern === segment;
  return matchAll(pattern.split(""), segment.split(""), "*", (one, other) => one === other);
}

/**
 * Returns whether a pattern matches all items. After a mismatch, the last wildcard matches one more item, and the comparison continues from
 * there. Earlier wildcards never have to change.
 */
function matchAll(
  pattern: readonly string[],
  items: readonly string[],
  wildcard: string,
  fits: (pattern: string, item: string) => boolean,
): boolean {
  let at = 0;
  let lastWildcard = -1;
  let takenUpTo = 0;
  for (let index = 0; index < items.length;) {
    const part = pattern[at];
    if (part === wildcard) {
      lastWildcard = at;
      takenUpTo = index;
      at += 1;
    } else if (part !== undefined && fits(part, items[index] as string)) {
      at += 1;
      index += 1;
    } else if (lastWildcard >= 0) {
      takenUpTo += 1;
      index = takenUpTo;
      at = lastWildcard + 1;
    } else return false;
  }
  return pattern.slice(at).every((part) => part === wildcard);
}
