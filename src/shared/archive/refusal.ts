import { ApiError } from "../api-error.js";

const longestShownName = 120;

export function invalidArchive(why: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_ARCHIVE", `The archive cannot be installed: ${why}. Pack the package again, then upload the new archive.`, {
    cause,
  });
}

export function archiveTooLarge(why: string): ApiError {
  return new ApiError("ARCHIVE_TOO_LARGE", `The archive is too large: ${why}.`);
}

export function pathTraversal(name: string): ApiError {
  return new ApiError("PATH_TRAVERSAL", `The archive entry ${shown(name)} leads outside of the package folder. Nothing was installed.`);
}

export function unsupportedEntry(name: string, what: string): ApiError {
  return new ApiError(
    "UNSUPPORTED_ENTRY",
    `The archive entry ${shown(name)} is ${what}. A package can contain only files and folders. Pack the package without this entry.`,
  );
}

/** Returns the name of an archive entry for messages: quoted, truncated, with control and bidirectional characters escaped. */
export function shown(name: string): string {
  const quoted = JSON.stringify(name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name);
  return quoted.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
