// zod/mini, as the list of workers that it is part of.
import * as z from "zod/mini";

/** Where an upload came from: a browser with a session, runtimectl, or another client of the API. */
const installationChannels = ["panel", "cli", "api"] as const;

/** Who installed a version, as the daemon recorded it then. Lazy: most programs that know of it meet none. */
export const Installation = z.lazy(() =>
  z.object({
    at: z.int().check(z.minimum(0), z.describe("Unix seconds")),
    by: z.string().check(z.describe("Name of the key")),
    via: z.enum(installationChannels).check(z.describe("panel: with a session; cli: by runtimectl")),
  }),
);
export type Installation = z.output<typeof Installation>;

const channelNames = { panel: "panel", cli: "CLI", api: "API" } as const;

/** Such as `by ci, CLI`. */
export function installerOf({ by, via }: Installation): string {
  return `by ${by}, ${channelNames[via]}`;
}
