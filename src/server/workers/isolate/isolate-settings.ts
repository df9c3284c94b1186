import type { LockdownOptions } from "./lockdown.js";

/** What the program of an isolate enforces itself; the daemon hands it over as JSON, after the slot. */
export type IsolateSettings = Pick<LockdownOptions, "allowsUdp" | "allowsPrograms" | "allowsAddons" | "allowsDatabases" | "network">;
