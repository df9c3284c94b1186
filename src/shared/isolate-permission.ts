/** Permissions of an isolate beyond reading its folder, besides those with a path: `fs-read:/path`, `fs-write:/path`. */
const isolatePermissionNames = ["child-process", "worker-threads", "addons", "wasi", "inspector", "udp"] as const;

/** An absolute path without a comma, a glob or `..`. */
const pathPermission = /^fs-(?:read|write):\/(?!.*(?:^|\/)\.\.(?:\/|$))[^\0,*]*$/;

export function isIsolatePermission(text: string): boolean {
  return isolatePermissionNames.some((name) => name === text) || pathPermission.test(text);
}

/** For messages: the forms that `isIsolatePermission` accepts. */
export const isolatePermissionForms = `one of ${isolatePermissionNames.join(", ")}, fs-read:/path, fs-write:/path`;
