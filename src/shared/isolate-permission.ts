/**
 * Permissions that a manifest can request for an isolate, which otherwise can only read its own folder. There are also permissions with a
 * path: `fs-read:/path` and `fs-write:/path`.
 */
const isolatePermissionNames = ["child-process", "worker-threads", "addons", "wasi", "inspector", "udp"] as const;

/** Matches a permission with an absolute path. The path has no comma, no `*` and no `..` segment. */
const pathPermission = /^fs-(?:read|write):\/(?!.*(?:^|\/)\.\.(?:\/|$))[^\0,*]*$/;

export function isIsolatePermission(text: string): boolean {
  return isolatePermissionNames.some((name) => name === text) || pathPermission.test(text);
}

/** Text for messages: the forms of a permission that `isIsolatePermission` accepts. */
export const isolatePermissionForms = `one of ${isolatePermissionNames.join(", ")}, fs-read:/path, fs-write:/path`;
