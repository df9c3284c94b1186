import { lstatSync, statSync } from "node:fs";
import path from "node:path";
import { configFile } from "../config/config-directory.js";
import type { Context } from "../command/command.js";
import { fail, ok, warn, type Finding } from "./report.js";

const oldestNode = "24.0.0";
const othersMayWrite = 0o022;
const othersMayRead = 0o077;

/** Checks the version of Node.js, and the owner and mode of the configuration files. */
export function checkMachine(context: Context): Finding[] {
  return [checkNode(), ...checkFiles(context)];
}

function checkNode(): Finding {
  const { node } = process.versions;
  return node.localeCompare(oldestNode, "en", { numeric: true }) >= 0
    ? ok("node", node)
    : fail("node", `${node} is too old for runtimectl`, `install Node ${oldestNode} or newer`);
}

function checkFiles({ environment, flags, workingDirectory, directories }: Context): Finding[] {
  const directory = directories.config;
  const keyFile = flags.keyFile ?? environment.RUNTIMECTL_KEY_FILE;
  return [
    checkMode({
      check: "folder",
      file: directory,
      forbidden: othersMayWrite,
      problem: "other users can create files in it",
      repair: "chmod 700",
    }),
    checkMode({
      check: "config",
      file: configFile(directory),
      forbidden: othersMayWrite,
      problem: "other users can change the origin of your requests",
      repair: "chmod 600",
    }),
    checkMode({
      check: "credentials",
      file: path.join(directory, "credentials.json"),
      forbidden: othersMayRead,
      isSecret: true,
      problem: "other users can read your keys",
      repair: "chmod 600",
    }),
    keyFile === undefined
      ? undefined
      : checkMode({
          check: "key file",
          file: path.resolve(workingDirectory, keyFile),
          forbidden: othersMayRead,
          problem: "other users can read your key",
          repair: "chmod 600",
        }),
  ].filter((finding) => finding !== undefined);
}

interface ModeCheck {
  readonly check: string;
  readonly file: string;
  readonly forbidden: number;
  /**
   * Whether the file contains API keys. If other users can access such a file, every command rejects the file. For all other files,
   * `doctor` only warns.
   */
  readonly isSecret?: boolean;
  readonly problem: string;
  readonly repair: string;
}

/** Returns the finding about owner and mode of a file. Undefined if the file does not exist. */
function checkMode({ check, file, forbidden, isSecret, problem, repair }: ModeCheck): Finding | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const stats = found.isSymbolicLink() && !isSecret ? statSync(file, { throwIfNoEntry: false }) : found;
  if (stats === undefined || process.platform === "win32") return ok(check, file);
  const report = isSecret ? fail : warn;
  if (stats.uid !== process.getuid?.()) return report(check, `${file} belongs to another user`, "use a file and a folder that you own");
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  return (stats.mode & forbidden) === 0
    ? ok(check, `${file}, mode ${mode}`)
    : report(check, `${file}: ${problem} (mode ${mode})`, `${repair} ${file}`);
}
