import path from "node:path";
import { parseEnv } from "node:util";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { readFileIfThere } from "../config/read-file-if-there.js";
import { serviceMode } from "../systemd/service-mode.js";
import { serviceUnit } from "../systemd/unit-files.js";

/** The flags of commands that read or write the files of the daemon on this machine. */
export const directoryOptions = [
  { flags: "--state-dir <folder>", description: "The daemon's state directory (default: RUNTIME_STATE_DIR or the daemon's default)" },
  { flags: "--worker-dirs <folders>", description: 'The daemon\'s worker directories, separated by ":" (default: RUNTIME_WORKER_DIRS)' },
  { flags: "--plugin-dirs <folders>", description: 'The daemon\'s plugin directories, separated by ":" (default: RUNTIME_PLUGIN_DIRS)' },
  {
    flags: "--service <mode>",
    description: "Read these variables from the installed service instead of the environment",
    choices: ["system", "user"],
  },
];

export interface DirectoryOptions {
  readonly stateDir?: string;
  readonly workerDirs?: string;
  readonly pluginDirs?: string;
  readonly service?: "system" | "user";
}

/** The folder in which systemd stores the state of system services (`%S` in a unit). */
const systemStateFolder = "/var/lib";

/**
 * Returns the environment variables for the backup program. The variables contain the directories of the service unit. Directories from
 * flags have priority.
 */
export function directoryVariables(
  { directories }: Pick<Context, "directories">,
  { stateDir, workerDirs, pluginDirs, service }: DirectoryOptions,
): Record<string, string> {
  const given = { RUNTIME_STATE_DIR: stateDir, RUNTIME_WORKER_DIRS: workerDirs, RUNTIME_PLUGIN_DIRS: pluginDirs };
  for (const [name, value] of Object.entries(given)) if (value === "") throw usageError(`${name} has an empty value`, "set it to a folder");
  const chosen = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...(service && serviceVariables(service, directories.home)), ...Object.fromEntries(chosen) };
}

/**
 * Returns the directories of the service and the mode of its key store. The file `environment` beside the root key overrides the unit.
 * Ignores systemd drop-ins. Throws SERVICE_NOT_INSTALLED if the unit does not exist.
 */
function serviceVariables(service: "system" | "user", home: string): Record<string, string> {
  const mode = serviceMode(service === "user", home);
  const unit = readFileIfThere(path.join(mode.unitDirectory, serviceUnit));
  if (unit === undefined)
    throw new CommandError(
      "SERVICE_NOT_INSTALLED",
      `the ${mode.name} service ${serviceUnit} is not installed, so its directories are unknown`,
      {
        exitCode: exitCodes.notFound,
        hint: "set the directories with --state-dir, --worker-dirs and --plugin-dirs",
      },
    );
  const variables: Record<string, string> = {};
  for (const [, name = "", value = ""] of unit.matchAll(
    /^Environment=(RUNTIME_(?:STATE_DIR|WORKER_DIRS|PLUGIN_DIRS|DATA_DIR|AUTH_DB_MODE))=(.*)$/gm,
  ))
    variables[name] = value.replaceAll("%S", systemStateFolder).replaceAll("%h", home);
  const own = parseEnv(readFileIfThere(path.join(path.dirname(mode.rootKeyFile), "environment")) ?? "");
  for (const name of [...Object.keys(variables), "RUNTIME_DATA_DIR", "RUNTIME_AUTH_DB_MODE"]) if (own[name]) variables[name] = own[name];
  return variables;
}
