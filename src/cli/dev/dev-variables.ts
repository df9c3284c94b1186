import path from "node:path";
import { parseEnv } from "node:util";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { CommandError, usageError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { readFileIfThere } from "../config/read-file-if-there.js";
import { readManifestOf, withManifest } from "../pack/bundle-plan.js";
import type { PackPlan } from "../pack/pack-plan.js";

/**
 * Files with variables in the folder of a worker. The last file overrides the first. Never packed. `.dev.vars` is the file name of
 * Cloudflare's wrangler.
 */
const usualFiles = [".env", ".dev.vars"] as const;

/**
 * Returns the variables of `.env` and `.dev.vars`, overridden by the variables of the file `given`. Throws a usage error if that file does
 * not exist.
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
 * Returns the pack plan with the variables and NODE_ENV added to `env` in the manifest. The variables replace the secrets that the manifest
 * lists. Throws SECRET_MISSING if a required secret has no variable.
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
