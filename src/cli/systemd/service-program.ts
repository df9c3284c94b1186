import { execFile } from "node:child_process";
import { access, realpath } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";
import type { ServiceMode } from "./service-mode.js";

/** What the unit's ProtectHome hides from the service. */
const hiddenFolders = ["/home", "/root", "/run/user"];
const probeTimeoutMs = 20_000;

export interface ServiceProgram {
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
