// zod/mini, as the list of workers that it is part of.
import * as z from "zod/mini";

export const longestDeployMessage = 500;
export const longestDeployer = 100;

/**
 * Where a version comes from, as `runtimectl deploy` writes it into the manifest under `deploy`. Nobody has checked what it says.
 * Lazy: most programs that know of it meet none.
 */
export const Deployment = z.lazy(() =>
  z.object({
    digest: z.string().check(z.regex(/^[0-9a-f]{64}$/), z.describe("SHA-256 of the content, this block aside")),
    at: z.int().check(z.minimum(0), z.describe("Unix seconds")),
    commit: z.optional(z.string().check(z.regex(/^[0-9a-f]{7,64}$/), z.describe("The commit that was checked out"))),
    dirty: z.optional(z.boolean().check(z.describe("Whether there were changes that the commit does not have"))),
    message: z.optional(z.string().check(z.maxLength(longestDeployMessage))),
    by: z.optional(z.string().check(z.maxLength(longestDeployer), z.describe("Who deployed it"))),
  }),
);
export type Deployment = z.output<typeof Deployment>;

/** The deployment in a manifest's keys; undefined when there is none, or it is none: it is a note, and no reason to refuse anything. */
export function deploymentIn(declared: Readonly<Record<string, unknown>> | undefined): Deployment | undefined {
  if (declared?.["deploy"] === undefined) return undefined;
  const parsed = z.safeParse(Deployment, declared["deploy"]);
  return parsed.success ? parsed.data : undefined;
}
