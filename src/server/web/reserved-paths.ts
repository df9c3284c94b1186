import path from "node:path";
import { normalPath } from "./lazy-request.js";

/** Whether a path is a base or lies below it. */
export function isBelow(text: string, base: string): boolean {
  return text.startsWith(base) && (text.length === base.length || text[base.length] === "/");
}

/** A target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/**
 * What a path could be taken for: as it is, resolved, decoded, with single slashes. Only to refuse by: what somebody could read as
 * something that is reserved counts as that.
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
    // Piece by piece: one malformed sequence must not hide the others.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
}

/** The control panel, also with a version that is pinned. */
const panelPath = /^\/cpanel(?:@[^/]*)?(?:\/|$)/;

/** Whether the panel answers at a path. */
export function isPanel(plain: string): boolean {
  return panelPath.test(plain);
}

/** Whether somebody could read a path as the panel's, however it is encoded. */
export function couldBePanel(plain: string): boolean {
  return readingsOf(plain).some((reading) => panelPath.test(reading));
}

/** What no plugin answers for, whatever it declares. */
export class ReservedPaths {
  readonly #apiBases: readonly string[];

  constructor(options: { apiBase: string }) {
    this.#apiBases = [options.apiBase, "/.well-known"];
  }

  /** Whether it is answered by the API alone, or could be taken for what is. */
  isApi(plain: string): boolean {
    return readingsOf(plain).some((reading) => this.#apiBases.some((base) => isBelow(reading, base)));
  }

  has(plain: string): boolean {
    return this.isApi(plain) || couldBePanel(plain);
  }

  /** Whether the panel answers: who could change its pages could act as the operator, so no hook has a part in them. */
  isPanel(plain: string): boolean {
    return isPanel(plain);
  }
}
