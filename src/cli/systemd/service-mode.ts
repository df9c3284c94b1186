import path from "node:path";
import { execFile } from "node:child_process";
import { access, realpath } from "node:fs/promises";
import { promisify } from "node:util";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";

/** Folders that the service cannot see, because the unit sets `ProtectHome`. */
const hiddenFolders = ["/home", "/root", "/run/user"];
const probeTimeoutMs = 20_000;

/** The paths of the systemd service, which is either a system service or a user service. */
export interface ServiceMode {
  readonly name: "system" | "user";
  /** Path of the template for the service unit, relative to the templates folder of the runtimectl package. */
  readonly template: string;
  readonly unitDirectory: string;
  readonly rootKeyFile: string;
  /** Folders that contain keys, workers and plugins. Only `uninstall --purge` deletes these folders. */
  readonly stateDirectories: readonly string[];
  /** systemctl flags that select the service manager of the system or of the user. */
  readonly systemctlFlags: readonly string[];
}

/** Returns the paths of a service: below `home` for a user service, below `root` for a system service. */
export function serviceMode(isUser: boolean, home: string, root = "/"): ServiceMode {
  const at = (folder: string) => path.join(root, folder);
  if (!isUser)
    return {
      name: "system",
      template: "runtimed.service",
      unitDirectory: at("/etc/systemd/system"),
      rootKeyFile: at("/etc/runtimed/root-key"),
      // For a service with DynamicUser=yes, systemd keeps the state folder in `private` and creates a link to it.
      stateDirectories: [at("/var/lib/private/runtimed"), at("/var/lib/runtimed")],
      systemctlFlags: root === "/" ? [] : [`--root=${root}`],
    };
  // Uses the home folder and ignores XDG_CONFIG_HOME, because the unit also uses only the home folder (`%h`).
  return {
    name: "user",
    template: "user/runtimed.service",
    unitDirectory: path.join(home, ".config/systemd/user"),
    rootKeyFile: path.join(home, ".config/runtimed/root-key"),
    stateDirectories: [path.join(home, ".local/share/runtimed")],
    systemctlFlags: ["--user"],
  };
}

interface ServiceProgram {
  readonly node: string;
  readonly program: string;
  /** Whether the daemon itself can notify systemd, without a helper program. */
  readonly canNotify: boolean;
}

/** Returns the paths of Node.js and of the daemon program. Throws if the service could not run one of them. */
export async function findServiceProgram(
  { workingDirectory }: Context,
  mode: ServiceMode,
  givenNode: string | undefined,
): Promise<ServiceProgram> {
  const node = path.resolve(workingDirectory, givenNode ?? process.execPath);
  await access(node).catch(() => {
    throw usageError(`the Node.js program in --node does not exist: ${node}`);
  });
  const program = await realpath(installedFile("bin/runtimed.js"));
  if (mode.name === "system") for (const file of [node, await realpath(node), program]) assertVisible(file);
  return { node, program, canNotify: await loadsKoffi(node, path.dirname(program)) };
}

function assertVisible(file: string): void {
  const folder = hiddenFolders.find((hidden) => file.startsWith(`${hidden}/`));
  if (folder === undefined) return;
  throw new CommandError(
    "HIDDEN_FROM_SERVICE",
    `the service cannot read ${file}, because systemd hides ${folder} from the service; nothing changed`,
    {
      exitCode: exitCodes.failed,
      hint: "install Node.js and this package in a folder such as /opt, choose another Node.js with --node, or use --user",
    },
  );
}

/**
 * Whether the Node.js of the service can load the npm package koffi. koffi is optional, and each build of koffi is for one platform and one
 * Node.js version.
 */
async function loadsKoffi(node: string, folder: string): Promise<boolean> {
  return promisify(execFile)(node, ["-e", 'require("koffi").load(null)'], { cwd: folder, timeout: probeTimeoutMs, env: {} }).then(
    () => true,
    () => false,
  );
}
