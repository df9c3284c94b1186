// Uses zod/mini, because the schema of the worker list contains the schema of an installation record and uses zod/mini.
import * as z from "zod/mini";

/** The kind of client that uploaded a version: the panel, runtimectl, or another API client. */
const installationChannels = ["panel", "cli", "api"] as const;

/**
 * The record that the daemon stores about an installation. The schema is lazy, because most programs never parse an installation record.
 */
export const Installation = z.lazy(() =>
  z.object({
    at: z.int().check(z.minimum(0), z.describe("Unix seconds")),
    by: z.string().check(z.describe("Name of the key")),
    via: z.enum(installationChannels).check(z.describe("panel: with a session; cli: by runtimectl")),
  }),
);
export type Installation = z.output<typeof Installation>;

const channelNames = { panel: "panel", cli: "CLI", api: "API" } as const;

/** Returns the name of the key and the kind of client that installed a version, such as `by ci, CLI`. */
export function installerOf({ by, via }: Installation): string {
  return `by ${by}, ${channelNames[via]}`;
}
