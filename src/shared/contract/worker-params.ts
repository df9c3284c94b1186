import * as z from "zod";
import { isPackageName, isPackageVersion, fromPathSegments } from "../package-name.js";

/** Path parameters of a worker. `:scope` is `_` for a worker without a scope. */
const workerParams = z.object({ scope: z.string(), name: z.string() });
const namedByGrammar = (segments: { scope: string; name: string }) =>
  !segments.name.includes("/") && isPackageName(fromPathSegments(segments));
export const WorkerParams = workerParams.refine(namedByGrammar, { path: ["name"], message: "not a package name" });
/** Path parameters of a worker's secret. `:key` is the name of the secret. */
export const workerSecretParams = <Key extends z.ZodType<string>>(key: Key) =>
  workerParams.extend({ key }).refine(namedByGrammar, { path: ["name"], message: "not a package name" });
/** Path parameters of a cron job. `:index` is the position of the cron job in the manifest, from 0. */
export const WorkerCronParams = workerParams
  .extend({
    index: z
      .string()
      .regex(/^(?:0|[1-9]\d{0,5})$/, "must be a whole number from 0")
      .transform(Number),
  })
  .refine(namedByGrammar, { path: ["name"], message: "not a package name" });
export const WorkerVersionParams = workerParams
  .extend({ version: z.string().refine(isPackageVersion, "neither strict semver nor latest") })
  .refine(namedByGrammar, { path: ["name"], message: "not a package name" });
