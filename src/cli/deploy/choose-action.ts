import semver from "semver";
import { latestVersion } from "../../shared/package-name.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { DeployOptions } from "./deploy-options.js";
import type { DeployTarget } from "./deploy-target.js";
import type { Deployable } from "./prepare-deployment.js";

/** none: what is there is the same; enable: it is, but off. */
export type DeployAction = "install" | "replace" | "enable" | "none";

/** What is to be done with what is there. Refuses to overwrite a version, and to promise a way back that there is not. */
export function chooseAction(target: DeployTarget, { plan, digest, isOff }: Deployable, options: DeployOptions): DeployAction {
  const { existing, loss } = target;
  const isSame = existing !== undefined && existing.digest === digest;
  if (isSame && (options.onlyIfChanged || options.isDryRun)) return existing.isEnabled || isOff ? "none" : "enable";
  if (existing && !options.mayReplace) throw versionExists(plan.facts, isSame);
  if (options.rollsBack && loss !== undefined)
    throw new CommandError("NO_WAY_BACK", `--rollback-on-fail cannot be kept: ${loss}`, {
      exitCode: exitCodes.conflict,
      hint: existing ? "deploy it as another version, or leave out --rollback-on-fail" : "leave out --rollback-on-fail",
    });
  return existing ? "replace" : "install";
}

function versionExists({ name, version }: { name: string; version: string }, isSame: boolean): CommandError {
  const next = version === latestVersion ? "1.0.0" : semver.inc(version, "patch");
  const bump = `set version: ${next} in its manifest or add --version ${next}; --replace overwrites what is there`;
  return new CommandError("VERSION_EXISTS", `${name}@${version} is installed already; nothing was uploaded`, {
    exitCode: exitCodes.conflict,
    hint: isSame ? `its content is the same, which --if-changed lets pass; else ${bump}` : bump,
  });
}
