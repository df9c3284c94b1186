import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { canAsk } from "../output/prompts.js";
import { folderSource } from "../pack/package-info.js";
import { detectProject, type DetectedProject } from "./detect-project.js";

/** Name of the package manager that creates each lock file, by file name. */
const lockFiles: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

/**
 * Builds a project if `isRequested` is true, or if the build output is missing and the user agrees. Installs the dependencies if there is
 * no node_modules, then runs the build script. Throws BUILD_FAILED, or NOT_BUILT if the user does not agree.
 */
export async function buildProject(context: Context, folder: string, isRequested: boolean): Promise<void> {
  const project = await detectProject(folder);
  const isMissing = project !== undefined && project.output === undefined && project.buildScript !== undefined;
  if (!isRequested) {
    if (!isMissing) return;
    if (!(await isAgreed(context, project))) throw notBuilt(project, "runtimectl deploy --build");
  }
  const manager = await packageManagerOf(folder);
  if (!(await exists(path.join(folder, "node_modules")))) await run(context, folder, [manager, "install"]);
  if (await hasBuildScript(folder)) await run(context, folder, [manager, "run", "build"]);
  else context.output.note("package.json has no build script, so nothing is built");
}

async function hasBuildScript(folder: string): Promise<boolean> {
  const text = await folderSource(folder).read("package.json");
  const fields = JSON.parse(text ?? "{}") as { readonly scripts?: Readonly<Record<string, string>> };
  return fields.scripts?.["build"] !== undefined;
}

/** Returns the command that builds a project without runtimectl, such as `npm run build`. */
export async function buildCommandOf(folder: string): Promise<string> {
  return `${await packageManagerOf(folder)} run build`;
}

/** Returns the error for a project without build output. The error names the command that builds the project. */
export function notBuilt({ kind, expected, buildScript, advice }: DetectedProject, command: string): CommandError {
  const folders = [...new Set(expected)].join(", ");
  const script = buildScript === undefined ? "package.json has no build script" : command;
  return new CommandError("NOT_BUILT", `${kind}: the build output does not exist (${folders})`, {
    exitCode: exitCodes.failed,
    hint: advice === undefined ? script : `${script}; if the build creates no such folder: ${advice}`,
  });
}

async function isAgreed(context: Context, { kind, expected }: DetectedProject): Promise<boolean> {
  if (!canAsk(context)) return false;
  const { confirm } = await import("@inquirer/prompts");
  const message = `${kind}: ${expected[0]} does not exist. Run the build script of package.json?`;
  return confirm({ message, default: true }, { input: context.io.stdin, output: context.io.stderr, signal: context.signal });
}

async function packageManagerOf(folder: string): Promise<string> {
  for (const [file, manager] of Object.entries(lockFiles)) if (await exists(path.join(folder, file))) return manager;
  return "npm";
}

/**
 * Runs a command in the project folder. Redirects the command's output to stderr, because stdout contains only results. With `--quiet`,
 * prints this output only if the command fails.
 */
async function run(context: Context, folder: string, words: readonly [command: string, ...args: string[]]): Promise<void> {
  const [command, ...args] = words;
  context.output.note(words.join(" "), { text: "  Build     ", style: "bold" });
  const child = spawn(command, args, {
    cwd: folder,
    env: withoutCredentials(context.variables),
    stdio: ["ignore", "pipe", "pipe"],
    // Starts the command in its own process group, so that an interruption also ends all programs that the build script starts.
    detached: true,
  });
  const interrupt = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  context.signal.addEventListener("abort", interrupt, { once: true });
  const hidden: Buffer[] = [];
  let isHidden = context.flags.quiet === true;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (isHidden ? hidden.push(text) : context.io.stderr.write(text)));
  // Waits for the event `exit`, because the event `close` can come much later: a program in the background can keep the pipes open.
  const code = await once(child, "exit").then(
    ([exitCode]) => exitCode as number | null,
    (error: Error) => error,
  );
  context.signal.removeEventListener("abort", interrupt);
  context.signal.throwIfAborted();
  if (code === 0) return;
  isHidden = false;
  for (const text of hidden) context.io.stderr.write(text);
  const reason = code instanceof Error ? code.message : `exit code ${code}`;
  throw new CommandError("BUILD_FAILED", `${words.join(" ")} failed (${reason}); nothing was uploaded`, { exitCode: exitCodes.failed });
}

/**
 * Returns the environment for the build without the variables of runtimectl. These variables can contain an API key, and a build runs code
 * of other authors.
 */
function withoutCredentials(variables: Context["variables"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !name.startsWith("RUNTIMECTL_")));
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
