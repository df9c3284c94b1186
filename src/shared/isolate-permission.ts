/** What the isolate of a worker may be allowed beyond reading its own folder; further ones name a path: `fs-read:/path`, `fs-write:/path`. */
const isolatePermissionNames = ["child-process", "worker-threads", "addons", "wasi", "inspector", "udp"] as const;

/** An absolute path without a comma, a glob or a way up. */
const pathPermission = /^fs-(?:read|write):\/(?!.*(?:^|\/)\.\.(?:\/|$))[^\0,*]*$/;

export function isIsolatePermission(text: string): boolean {
  return isolatePermissionNames.some((name) => name === text) || pathPermission.test(text);
}

/** For messages: what `isIsolatePermission` takes. */
export const isolatePermissionForms = `one of ${isolatePermissionNames.join(", ")}, fs-read:/path, fs-write:/path`;
