import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";

/** A configuration variable of the daemon, with the value in effect. */
export const SettingsVariable = z.object({
  name: z.string(),
  value: z.string().nullable().describe("null for a secret, and for a variable without a value"),
  source: z
    .enum(["environment", "file", "default"])
    .describe("file: a systemd credential, a `_FILE` variable or a file of the state directory"),
  isSecret: z.boolean(),
  description: z.string(),
});
export type SettingsVariable = z.output<typeof SettingsVariable>;

/** A directory of the daemon, with the free and total space of its file system. */
export const SettingsDirectory = z.object({
  kind: z.enum(["state", "data", "workers", "plugins"]),
  path: z.string(),
  freeBytes: z.int().min(0).describe("Bytes of the file system that the daemon can use"),
  totalBytes: z.int().min(0),
  isWritable: z.boolean(),
});
export type SettingsDirectory = z.output<typeof SettingsDirectory>;

/** The settings with which the daemon runs. */
export const Settings = z.object({
  version: z.string(),
  node: z.string().describe("Version of Node.js, such as v24.1.0"),
  startedAt: Timestamp,
  variables: z.array(SettingsVariable).describe("All variables in the order of the configuration reference"),
  directories: z.array(SettingsDirectory),
  isolation: z
    .array(z.object({ name: z.string(), isActive: z.boolean(), message: z.string() }))
    .describe("Layers that isolate workers; the message of an inactive layer is the reason"),
});
export type Settings = z.output<typeof Settings>;

export const show = endpoint({
  method: "GET",
  path: "/settings",
  summary: "Return the daemon's variables, directories and isolation; needs a key without namespace restriction",
  access: "settings:read",
  status: 200,
  result: Settings,
  errors: ["NAMESPACE_DENIED"],
});
