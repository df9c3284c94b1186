// The program that `runtimectl daemon backup`, `restore`, `migrate-keys` and `migrate-packages` start. Runs one job, writes one line of
// JSON to stdout and exits.
import path from "node:path";
import type { BackupFailure, BackupJob, BackupResults } from "../../shared/backup-program.js";
import { ConfigError } from "../config/config-error.js";
import { readDirectories } from "../config/directories.js";
import { BackupError } from "./backup-format.js";
import { migrateKeys } from "./migrate-keys.js";
import { migratePackages } from "./migrate-packages.js";
import { restoreBackup } from "./restore-backup.js";
import { writeBackup } from "./write-backup.js";

type Outcome = { readonly result: BackupResults[keyof BackupResults] } | { readonly error: BackupFailure };

// Sets the umask, so that the mode of written files is the same for every caller.
process.umask(0o022);
process.once("SIGTERM", () => process.exit(143));
process.once("SIGINT", () => process.exit(130));

const outcome = await run(JSON.parse(process.argv[2] as string) as BackupJob);
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit("result" in outcome ? 0 : 1));

async function run({
  action,
  file,
  variables,
  isDryRun = false,
  isDataOnly = false,
  discardOld = false,
  packageStore: target = "oci",
}: BackupJob): Promise<Outcome> {
  const environment = { ...process.env, ...variables };
  try {
    const directories = readDirectories(environment, process.cwd());
    if (action === "migrate-keys") return { result: await migrateKeys(directories, environment, { isDryRun }) };
    if (action === "migrate-packages") return { result: await migratePackages(directories, environment, { target, isDryRun }) };
    if (action === "backup") return { result: { ...(await writeBackup(directories, environment, file)), directories } };
    const restored = await restoreBackup({ directories, environment, file, isDryRun, isDataOnly, discardOld });
    return { result: { file, ...restored, directories } };
  } catch (error) {
    if (error instanceof BackupError) return { error: { code: error.code, message: error.message, hint: error.hint } };
    // Reports that nothing was changed, because each job reads its settings before the first change.
    if (error instanceof ConfigError) return { error: { code: "SETTING_NOT_VALID", message: `${error.message} Nothing was changed.` } };
    const { code, message } = error as NodeJS.ErrnoException;
    const isStorage = code === "ENOSPC" || code === "EDQUOT";
    const hint = isStorage
      ? "free some space, and try again"
      : code === "EACCES" || code === "EPERM"
        ? "run the command as the daemon's user, or with sudo"
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
