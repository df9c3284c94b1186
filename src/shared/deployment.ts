// Uses zod/mini, because the schema of the worker list contains the schema of a deployment record and uses zod/mini.
import * as z from "zod/mini";

export const longestDeployMessage = 500;
export const longestDeployer = 100;

/**
 * The record that `runtimectl deploy` writes into the field `deploy` of the manifest. The daemon does not verify the content. The schema is
 * lazy, because most programs never parse a deployment record.
 */
export const Deployment = z.lazy(() =>
  z.object({
    digest: z.string().check(z.regex(/^[0-9a-f]{64}$/), z.describe("SHA-256 of the content without this record")),
    at: z.int().check(z.minimum(0), z.describe("Unix seconds")),
    commit: z.optional(z.string().check(z.regex(/^[0-9a-f]{7,64}$/), z.describe("The checked-out commit"))),
    dirty: z.optional(z.boolean().check(z.describe("Whether there were uncommitted changes"))),
    message: z.optional(z.string().check(z.maxLength(longestDeployMessage))),
    by: z.optional(z.string().check(z.maxLength(longestDeployer), z.describe("Name of the user (git user.name)"))),
  }),
);
export type Deployment = z.output<typeof Deployment>;

/** Returns the deployment record in a manifest. Undefined if the record is missing or invalid. */
export function deploymentIn(declared: Readonly<Record<string, unknown>> | undefined): Deployment | undefined {
  if (declared?.["deploy"] === undefined) return undefined;
  const parsed = z.safeParse(Deployment, declared["deploy"]);
  return parsed.success ? parsed.data : undefined;
}
