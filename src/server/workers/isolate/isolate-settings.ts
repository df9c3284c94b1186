import type { LockdownOptions } from "./lockdown.js";

/**
 * Restrictions that the isolate program enforces itself. The daemon passes the settings as JSON in the second argument, after the path of
 * the sandbox folder.
 */
export type IsolateSettings = Pick<LockdownOptions, "allowsUdp" | "allowsPrograms" | "allowsAddons" | "allowsDatabases" | "network">;
