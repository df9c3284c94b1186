// A process of its own, which `runtimectl daemon backup` and `daemon restore` start: does one job, writes one line of JSON to stdout, ends.
import path from "node:path";
import { readDirectories } from "../config.js";
import { BackupError } from "./backup-error.js";
import { migrateKeys } from "./migrate-keys.js";
import { restoreBackup } from "./restore-backup.js";
import { writeBackup } from "./write-backup.js";

interface Job {
  readonly action: "backup" | "restore" | "migrate-keys";
  /** Absolute; not used by migrate-keys. */
  readonly file: string;
  /** In place of those of the environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isDryRun: boolean;
  readonly discardOld: boolean;
}

// Files get the mode they are given, whatever this runs under.
process.umask(0o022);
process.once("SIGTERM", () => process.exit(143));
process.once("SIGINT", () => process.exit(130));

const outcome = await run(JSON.parse(process.argv[2] as string) as Job);
process.stdout.write(JSON.stringify(outcome), () => process.exit("result" in outcome ? 0 : 1));

async function run({ action, file, variables, isDryRun, discardOld }: Job): Promise<{ result: object } | { error: object }> {
  const directories = readDirectories({ ...process.env, ...variables }, process.cwd());
  try {
    if (action === "migrate-keys") return { result: await migrateKeys(directories, { ...process.env, ...variables }, { isDryRun }) };
    if (action === "backup") return { result: { ...(await writeBackup(directories, file)), directories } };
    return { result: { file, ...(await restoreBackup({ directories, file, isDryRun, discardOld })), directories } };
  } catch (error) {
    if (error instanceof BackupError) return { error: { code: error.code, message: error.message, hint: error.hint } };
    const { code, message } = error as NodeJS.ErrnoException;
    const isStorage = code === "ENOSPC" || code === "EDQUOT";
    const hint = isStorage
      ? "free some space, and try again"
      : code === "EACCES" || code === "EPERM"
        ? "run it as the daemon's user, or with sudo"
        : undefined;
    return {
      error: {
        code: isStorage ? "INSUFFICIENT_STORAGE" : "FAILED",
        message: `${action}${file === "" ? "" : ` of ${path.basename(file)}`} failed: ${message}`,
        hint,
      },
    };
  }
}
