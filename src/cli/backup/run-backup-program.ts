import { spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";
import { confirmOnMachine } from "../output/prompts.js";
import type { BackupJob, BackupOutcome, BackupResults } from "../../shared/backup-program.js";

/**
 * Path of the backup program. The program belongs to the daemon, because only the daemon's code can read the storage formats of keys and
 * packages.
 */
const program = installedFile("dist/server/backup/main.js");

const afterEarlyEnd = {
  backup: "run the command again: no backup was written",
  restore: "run the command again: it first reverts or completes the interrupted restore",
  "migrate-keys": "run the command again: the primary has all keys or none",
  "migrate-packages": "run the command again: it continues with the packages that are not in the store yet",
} as const;

const exitCodeOf: Readonly<Record<string, ExitCode>> = {
  STATE_NOT_FOUND: exitCodes.notFound,
  BACKUP_NOT_FOUND: exitCodes.notFound,
  DAEMON_RUNNING: exitCodes.conflict,
  KEY_STORE_NEWER: exitCodes.conflict,
  PACKAGE_CHANGING: exitCodes.conflict,
  PRIMARY_HAS_KEYS: exitCodes.conflict,
  PRIMARY_NOT_SET: exitCodes.usage,
  PRIMARY_UNAVAILABLE: exitCodes.unavailable,
  REGISTRY_UNAVAILABLE: exitCodes.unavailable,
  SETTING_NOT_VALID: exitCodes.usage,
};

interface Confirmation<Plan> {
  readonly isDryRun: boolean;
  /** Returns the consequence that the confirmation shows. `plan` is the result of a dry run. */
  readonly consequenceOf: (plan: Plan) => string;
}

/** Runs a job after the user has confirmed it. With `isDryRun` or `--yes`, asks nothing. Throws a CommandError, such as DECLINED. */
export async function runConfirmed<Action extends keyof BackupResults>(
  context: Context,
  job: BackupJob & { readonly action: Action },
  { isDryRun, consequenceOf }: Confirmation<BackupResults[Action]>,
): Promise<BackupResults[Action]> {
  if (!isDryRun && !context.flags.yes) {
    const plan = await runBackupProgram(context, { ...job, isDryRun: true });
    await confirmOnMachine(context, { consequence: consequenceOf(plan), name: job.action });
  }
  return await runBackupProgram(context, { ...job, isDryRun });
}

/** Runs the daemon's backup program for one job and returns its result. Throws a CommandError if the job fails. */
export async function runBackupProgram<Action extends keyof BackupResults>(
  context: Context,
  job: BackupJob & { readonly action: Action },
): Promise<BackupResults[Action]> {
  const child = spawn(process.execPath, [program, JSON.stringify(job)], {
    cwd: context.workingDirectory,
    env: context.variables,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (chunk: Buffer) => context.terminal.writeStderr(chunk.toString()));
  const stop = () => child.kill("SIGTERM");
  context.signal.addEventListener("abort", stop, { once: true });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    answer += chunk;
    // Kills the program after its line, because a program of Node.js can fail to exit (nodejs/node issue 54918).
    if (answer.endsWith("\n")) child.kill("SIGKILL");
  });
  await once(child, "close");
  context.signal.removeEventListener("abort", stop);
  context.signal.throwIfAborted();
  const outcome = parse<BackupResults[Action]>(answer);
  if (outcome && "result" in outcome) return outcome.result;
  const { code, message, hint } = outcome?.error ?? {
    code: "FAILED",
    message: `the ${job.action} program stopped unexpectedly (${child.signalCode ?? child.exitCode})`,
    hint: afterEarlyEnd[job.action],
  };
  throw new CommandError(code, message, { exitCode: exitCodeOf[code] ?? exitCodes.failed, hint });
}

function parse<Result>(answer: string): BackupOutcome<Result> | undefined {
  try {
    return JSON.parse(answer) as BackupOutcome<Result>;
  } catch {
    return undefined;
  }
}
