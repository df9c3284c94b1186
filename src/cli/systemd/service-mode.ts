import path from "node:path";
import { execFile } from "node:child_process";
import { access, realpath } from "node:fs/promises";
import { promisify } from "node:util";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";

/** What the unit's ProtectHome hides from the service. */
const hiddenFolders = ["/home", "/root", "/run/user"];
const probeTimeoutMs = 20_000;

/** Where a service of this machine, or of one user, has its parts. */
export interface ServiceMode {
  readonly name: "system" | "user";
  /** Where the unit's template lies below the shipped ones. */
  readonly template: string;
  readonly unitDirectory: string;
  readonly rootKeyFile: string;
  /** What `uninstall --purge` deletes: keys, workers, plugins. */
  readonly stateDirectories: readonly string[];
  /** What systemctl needs to speak with the right manager. */
  readonly systemctlFlags: readonly string[];
}

/** The parts of a service; those of a user lie below `home`, those of a machine's lie below `root`, when given. */
export function serviceMode(isUser: boolean, home: string, root = "/"): ServiceMode {
  const at = (folder: string) => path.join(root, folder);
  if (!isUser)
    return {
      name: "system",
      template: "runtimed.service",
      unitDirectory: at("/etc/systemd/system"),
      rootKeyFile: at("/etc/runtimed/root-key"),
      // Where systemd keeps the state of a service whose user it makes, and the link to it.
      stateDirectories: [at("/var/lib/private/runtimed"), at("/var/lib/runtimed")],
      systemctlFlags: root === "/" ? [] : [`--root=${root}`],
    };
  // As the unit has them: systemd's %h, whatever XDG_CONFIG_HOME says.
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
  /** Whether the daemon can send its notes itself. */
  readonly canNotify: boolean;
}

/** The Node and the daemon that the service is to run: those of this command, or the Node given. Refuses what the service could not run. */
export async function findServiceProgram(
  { workingDirectory }: Context,
  mode: ServiceMode,
  givenNode: string | undefined,
): Promise<ServiceProgram> {
  const node = path.resolve(workingDirectory, givenNode ?? process.execPath);
  await access(node).catch(() => {
    throw usageError(`--node ${node}: there is no such program`);
  });
  const program = await realpath(installedFile("bin/runtimed.js"));
  if (mode.name === "system") for (const file of [node, await realpath(node), program]) assertVisible(file);
  return { node, program, canNotify: await loadsKoffi(node, path.dirname(program)) };
}

function assertVisible(file: string): void {
  const folder = hiddenFolders.find((hidden) => file.startsWith(`${hidden}/`));
  if (folder === undefined) return;
  throw new CommandError("HIDDEN_FROM_SERVICE", `${file} lies in ${folder}, which the service cannot see; nothing was changed`, {
    exitCode: exitCodes.failed,
    hint: "put Node and this package where all users can read them, such as /opt, give another Node by --node, or take --user",
  });
}

/** In the Node that will run it: the package is optional, and is made for a machine and a version of Node. */
async function loadsKoffi(node: string, folder: string): Promise<boolean> {
  return promisify(execFile)(node, ["-e", 'require("koffi").load(null)'], { cwd: folder, timeout: probeTimeoutMs, env: {} }).then(
    () => true,
    () => false,
  );
}
