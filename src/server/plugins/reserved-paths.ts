import path from "node:path";
import { normalPath } from "../web/lazy-request.js";

export function isBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === "/");
}

/** A target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/**
 * A path as the most generous reader would take it: decoded, resolved, with single slashes. Only to refuse by: what could be read as
 * something that is reserved counts as that.
 */
export function generousPath(plain: string): string {
  if (normalPath.test(plain) && !plain.includes("%") && !plain.includes("//")) return plain;
  return path.posix.normalize(decoded(plain).replaceAll(/[/\\]+/g, "/"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Piece by piece: one malformed sequence must not hide the others.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
}

/** What no plugin answers for, whatever it declares. */
export class ReservedPaths {
  readonly #apiBases: readonly string[];

  constructor(options: { apiBase: string }) {
    this.#apiBases = [options.apiBase, "/.well-known"];
  }

  /** Whether it is answered by the API alone. */
  isApi(path: string): boolean {
    return this.#apiBases.some((base) => isBelow(path, base));
  }

  /** `path` as `generousPath` gives it. */
  has(path: string): boolean {
    return this.isApi(path) || isBelow(path, "/cpanel");
  }
}
