import path from "node:path";
import { normalPath } from "./lazy-request.js";

/** Returns whether a path is `base` or below `base`. */
export function isBelow(text: string, base: string): boolean {
  return text.startsWith(base) && (text.length === base.length || text[base.length] === "/");
}

/** Returns the path of a request target, without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/**
 * Returns the path in each form in which a program could read it: unchanged, resolved, decoded, and with single slashes. Use these only for
 * rejections: a path is reserved if one of its forms is reserved.
 */
export function pathForms(plain: string): readonly string[] {
  if (normalPath.test(plain) && !plain.includes("%") && !plain.includes("//")) return [plain];
  const resolved = resolve(plain);
  const text = decoded(resolved).replaceAll("\\", "/");
  return [resolved, resolve(plain.replaceAll(/[/\\]+/g, "/")), resolve(text), path.posix.normalize(text)];
}

function resolve(text: string): string {
  return new URL(`http://localhost${text.replaceAll(/[?#]/g, encodeURIComponent)}`).pathname;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Decodes each sequence separately. A malformed sequence then does not prevent the decoding of the others.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
}

/** Matches the path of the panel, with or without a version after `@`. */
const panelPath = /^\/cpanel(?:@[^/]*)?(?:\/|$)/;

/** Returns whether the panel serves a path. */
export function isPanel(plain: string): boolean {
  return panelPath.test(plain);
}

/** Returns whether one of the forms of a path is a path of the panel. */
export function couldBePanel(plain: string): boolean {
  return pathForms(plain).some((form) => panelPath.test(form));
}

/** Finds out whether a path belongs to the API or to the panel. No plugin can serve these paths. */
export class ReservedPaths {
  readonly #apiBases: readonly string[];

  constructor(options: { apiBase: string }) {
    this.#apiBases = [options.apiBase, "/.well-known"];
  }

  /** Returns whether one of the forms of a path belongs to the API or to `/.well-known`. */
  isApi(plain: string): boolean {
    return pathForms(plain).some((form) => this.#apiBases.some((base) => isBelow(form, base)));
  }

  has(plain: string): boolean {
    return this.isApi(plain) || couldBePanel(plain);
  }

  /**
   * Returns whether the panel serves a path. The daemon skips plugin hooks for the panel, because a plugin that changes pages of the panel
   * could act as the operator.
   */
  isPanel(plain: string): boolean {
    return isPanel(plain);
  }
}

/**
 * Returns the first path segments that the daemon itself serves, which workers cannot have as names. Omits segments with a leading dot,
 * because no worker name begins with a dot.
 */
export function reservedNames(apiBase: string): ReadonlySet<string> {
  return new Set(["api", "cpanel", apiBase.split("/")[1] ?? "api"]);
}
