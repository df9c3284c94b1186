import type { LockdownOptions } from "./lockdown.js";

/** Restrictions that the isolate program enforces itself. The daemon passes them as JSON in the second argument, after the slot. */
export type IsolateSettings = Pick<LockdownOptions, "allowsUdp" | "allowsPrograms" | "allowsAddons" | "allowsDatabases" | "network">;
