import type { ErrorCode } from "../errors.js";

/**
 * Errors of a change whose cause is possibly that the daemon has not received a change of another daemon yet. The daemon then fetches the
 * newest changes from the primary, and tries once more.
 */
const indexErrors: readonly ErrorCode[] = [
  "KEY_NOT_FOUND",
  "HOST_NOT_FOUND",
  "HOST_TAKEN",
  "SECRET_NOT_FOUND",
  "SECRET_MISSING",
  "INSTANCE_NOT_FOUND",
];
/** Errors about packages with this possible cause. Daemons share packages only through a package store. */
const packageErrors: readonly ErrorCode[] = [
  "WORKER_NOT_FOUND",
  "WORKER_VERSION_NOT_FOUND",
  "PLUGIN_NOT_FOUND",
  "PLUGIN_MANIFEST_NOT_FOUND",
  "CRON_JOB_NOT_FOUND",
  "PATH_NOT_FOUND",
  "SECRET_IN_USE",
];

export const outdatedErrors = { index: new Set(indexErrors), packages: new Set(packageErrors) };
