import path from "node:path";
import { normalPath } from "./lazy-request.js";

/** Whether a path is `base` or below it. */
export function isBelow(text: string, base: string): boolean {
  return text.startsWith(base) && (text.length === base.length || text[base.length] === "/");
}

/** Returns a target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/**
 * Returns all interpretations of a path: unchanged, resolved, decoded, with single slashes. For rejections only: if any interpretation is
 * reserved, the path is.
 */
export function readingsOf(plain: string): readonly string[] {
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
    // Decodes each sequence separately, so that a malformed one does not hide the others.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
}

/** Matches the control panel, also with a pinned version. */
const panelPath = /^\/cpanel(?:@[^/]*)?(?:\/|$)/;

/** Whether the panel serves a path. */
export function isPanel(plain: string): boolean {
  return panelPath.test(plain);
}

/** Whether a path could mean the panel in any encoding. */
export function couldBePanel(plain: string): boolean {
  return readingsOf(plain).some((reading) => panelPath.test(reading));
}

/** Paths that no plugin can serve. */
export class ReservedPaths {
  readonly #apiBases: readonly string[];

  constructor(options: { apiBase: string }) {
    this.#apiBases = [options.apiBase, "/.well-known"];
  }

  /** Whether any interpretation of a path belongs to the API or `/.well-known`. */
  isApi(plain: string): boolean {
    return readingsOf(plain).some((reading) => this.#apiBases.some((base) => isBelow(reading, base)));
  }

  has(plain: string): boolean {
    return this.isApi(plain) || couldBePanel(plain);
  }

  /** Whether the panel serves a path. Hooks are skipped there: a plugin that changed its pages could act as the operator. */
  isPanel(plain: string): boolean {
    return isPanel(plain);
  }
}
