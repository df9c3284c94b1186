import path from "node:path";
import { parseEnv } from "node:util";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { readFileIfThere } from "../config/read-file-if-there.js";
import { serviceMode } from "../systemd/service-mode.js";
import { serviceUnit } from "../systemd/unit-files.js";

/** The flags of commands that work on what a daemon of this machine stores. */
export const directoryOptions = [
  { flags: "--state-dir <folder>", description: "The daemon's state directory (default: RUNTIME_STATE_DIR, as the daemon has it)" },
  { flags: "--worker-dirs <folders>", description: 'Its worker directories, separated by ":" (default: RUNTIME_WORKER_DIRS)' },
  { flags: "--plugin-dirs <folders>", description: 'Its plugin directories, separated by ":" (default: RUNTIME_PLUGIN_DIRS)' },
  {
    flags: "--service <mode>",
    description: "Take these variables from the installed service instead of the environment",
    choices: ["system", "user"],
  },
];

export interface DirectoryOptions {
  readonly stateDir?: string;
  readonly workerDirs?: string;
  readonly pluginDirs?: string;
  readonly service?: "system" | "user";
}

/** Where systemd keeps state of the machine's services. */
const systemStateFolder = "/var/lib";

/** Variables as the daemon reads them, to be put over those of the environment: of the service, then of the flags. */
export function directoryVariables(
  { directories }: Pick<Context, "directories">,
  { stateDir, workerDirs, pluginDirs, service }: DirectoryOptions,
): Record<string, string> {
  const given = { RUNTIME_STATE_DIR: stateDir, RUNTIME_WORKER_DIRS: workerDirs, RUNTIME_PLUGIN_DIRS: pluginDirs };
  for (const [name, value] of Object.entries(given)) if (value === "") throw usageError(`${name} is empty`, "name a folder");
  const chosen = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...(service && serviceVariables(service, directories.home)), ...Object.fromEntries(chosen) };
}

/** What the unit says, then the file beside the root key; drop-ins are not read. */
function serviceVariables(service: "system" | "user", home: string): Record<string, string> {
  const mode = serviceMode(service === "user", home);
  const unit = readFileIfThere(path.join(mode.unitDirectory, serviceUnit));
  if (unit === undefined)
    throw new CommandError("SERVICE_NOT_INSTALLED", `there is no ${mode.name} service ${serviceUnit}`, {
      exitCode: exitCodes.notFound,
      hint: "name the directories by --state-dir, --worker-dirs and --plugin-dirs",
    });
  const variables: Record<string, string> = {};
  for (const [, name = "", value = ""] of unit.matchAll(/^Environment=(RUNTIME_(?:STATE_DIR|WORKER_DIRS|PLUGIN_DIRS))=(.*)$/gm))
    variables[name] = value.replaceAll("%S", systemStateFolder).replaceAll("%h", home);
  const own = parseEnv(readFileIfThere(path.join(path.dirname(mode.rootKeyFile), "environment")) ?? "");
  for (const name of Object.keys(variables)) if (own[name]) variables[name] = own[name];
  return variables;
}
