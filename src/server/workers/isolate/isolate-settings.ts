import type { LockdownOptions } from "./lockdown.js";

/**
 * Restrictions that the isolate program itself enforces. The daemon passes them as JSON in the second argument. The first argument is the
 * path of the sandbox folder.
 */
export type IsolateSettings = Pick<LockdownOptions, "allowsUdp" | "allowsPrograms" | "allowsAddons" | "allowsDatabases" | "network">;
