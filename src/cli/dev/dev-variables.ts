import path from "node:path";
import { parseEnv } from "node:util";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { CommandError, usageError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { readFileIfThere } from "../config/read-file-if-there.js";
import { readManifestOf, withManifest } from "../pack/bundle-plan.js";
import type { PackPlan } from "../pack/pack-plan.js";

/**
 * Files in the worker's folder that contain variables for `runtimectl dev`. `.dev.vars`, the file of Cloudflare's wrangler, overrides
 * `.env`. Archives never contain these files.
 */
const usualFiles = [".env", ".dev.vars"] as const;

/**
 * Returns the variables of `.env` and `.dev.vars`. The variables of the file `given` override them. Throws a usage error if the file
 * `given` does not exist.
 */
export function readDevVariables(folder: string, given: string | undefined): Record<string, string> {
  const texts = usualFiles.map((name) => readFileIfThere(path.join(folder, name)));
  const text = given === undefined ? undefined : readFileIfThere(given);
  if (given !== undefined && text === undefined) throw usageError(`--vars-file: ${given} does not exist`);
  return Object.assign({}, ...[...texts, text].map(parsed)) as Record<string, string>;
}

function parsed(text: string | undefined): Record<string, string> {
  return text === undefined ? {} : (parseEnv(text) as Record<string, string>);
}

/**
 * Returns the plan with `env` in the manifest extended by the variables and NODE_ENV. The variables also replace the secrets in the
 * manifest. Throws SECRET_MISSING if no variable has the name of a required secret.
 */
export async function withDevVariables(plan: PackPlan, directory: string, env: Readonly<Record<string, string>>): Promise<PackPlan> {
  const fields = (readManifestOf(plan).document.toJS() ?? {}) as { secrets?: unknown; env?: object | null };
  const secrets = WorkerManifest.shape.secrets.safeParse(fields.secrets).data ?? [];
  const missing = secrets.flatMap(({ name, optional }) => (optional || Object.hasOwn(env, name) ? [] : name));
  if (missing.length > 0)
    throw new CommandError(
      "SECRET_MISSING",
      `${usualFiles.join(" and ")} do not set the secrets that the manifest requires: ${missing.join(", ")}`,
      {
        exitCode: exitCodes.conflict,
        hint: `add a line ${missing[0]}=value to ${usualFiles[1]}`,
      },
    );
  const mode = Object.hasOwn(fields.env ?? {}, "NODE_ENV") ? {} : { NODE_ENV: "development" };
  return withManifest(plan, directory, { env: { ...mode, ...env }, ...(secrets.length > 0 && { secrets: [] }) });
}
