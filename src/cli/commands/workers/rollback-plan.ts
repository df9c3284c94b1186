import { latestVersion } from "../../../shared/package-name.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import {
  answeringVersion,
  isStable,
  conflictingVersions,
  type InstalledVersion,
  type InstalledWorker,
} from "../../../shared/worker-versions.js";

export interface RollbackPlan {
  /** What answers now, if anything does. */
  readonly from: InstalledVersion | undefined;
  /** What shall answer. */
  readonly to: InstalledVersion;
  /** Those that are on and would answer in its stead, in the order in which they go. */
  readonly inTheWay: readonly InstalledVersion[];
}

/** What has to be switched so that the version wanted, or the one before the one that answers, answers. */
export function planRollback({ name, versions }: InstalledWorker, wanted: string | undefined): RollbackPlan {
  const from = answeringVersion(versions);
  const to = wanted === undefined ? versionBefore(from, versions) : versions.find(({ version }) => version === wanted);
  const hint = `runtimectl workers show ${name}`;
  if (to === undefined && wanted !== undefined)
    throw new CommandError("WORKER_VERSION_NOT_FOUND", `${name} has no version ${wanted}`, { exitCode: exitCodes.notFound, hint });
  if (to === undefined)
    throw new CommandError(
      "NO_EARLIER_VERSION",
      from === undefined
        ? `no version of ${name} is on`
        : `${name} has no version before ${sanitizeForTerminal(from.version)}, which answers`,
      { exitCode: exitCodes.conflict, hint: `choose one with --to; ${hint}` },
    );
  if (to === from)
    throw new CommandError("ANSWERS_ALREADY", `${name} is answered by ${to.version} already`, { exitCode: exitCodes.conflict, hint });
  return { from, to, inTheWay: conflictingVersions(to, versions) };
}

/** The next lower one; for a stable version, or latest, a stable one if there is any. */
function versionBefore(from: InstalledVersion | undefined, versions: readonly InstalledVersion[]): InstalledVersion | undefined {
  if (from === undefined) return undefined;
  const lower = versions.slice(versions.indexOf(from) + 1);
  const isPrerelease = !isStable(from) && from.version !== latestVersion;
  return isPrerelease ? lower[0] : (lower.find(isStable) ?? lower[0]);
}
