import type { AppInfo } from "../plugin/index.js";

/** Why the text is no pattern; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  if (!pattern.startsWith("/")) return "must begin with a slash";
  if (/[?#\s]/.test(pattern)) return "is a path only: without a query, a fragment or white space";
  if (pattern.split("/").some((segment) => segment.includes("**") && segment !== "**")) return "has ** as a part of a segment";
  return undefined;
}

/**
 * Paths as rules name them: `*` is any part of one segment, `**` any number of segments, none included. Matching takes no longer than
 * pattern times path, whatever a client sends.
 */
export class PathPatterns {
  readonly #patterns: readonly (readonly string[])[];

  /** No pattern: every path. */
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

/** A request's path in a form that rules compare, so that none is evaded by another spelling. */
export interface RulePath {
  /** Percent-encoding undone, slashes in a row as one, none at the end. What cannot be decoded stays as it is. */
  readonly sent: string;
  /** The same without a worker's version: `/shop@1.2.0/cart` is `/shop/cart`. */
  readonly canonical: string;
}

export function readRulePath(url: string, app: AppInfo | undefined): RulePath {
  const path = decoded(pathOf(url));
  const sent = withoutLastSlash(path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path);
  if (app?.kind !== "worker" || !sent.startsWith(`/${app.name}@`)) return { sent, canonical: sent };
  const below = segmentsOf(sent).slice(app.name.split("/").length);
  return { sent, canonical: `/${[app.name, ...below].join("/")}` };
}

/** Taking a URL apart costs as much as all the rest; only dots and backslashes make its path another one than is written there. */
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

/** Goes back to the last wildcard only, and lets it take one item more: earlier ones need not be tried again. */
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
