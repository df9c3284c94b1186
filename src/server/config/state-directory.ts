import { chmod, mkdtemp, rmdir } from "node:fs/promises";
import path from "node:path";
import { ConfigError } from "./config-error.js";
import { makeDirectory } from "../platform/make-directory.js";

const privateMode = 0o700;
/**
 * Error codes that the next start would produce again. A different error, such as a full disk, can end without a change of the
 * configuration.
 */
const lastingCodes = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT", "EEXIST", "ELOOP", "ENAMETOOLONG"]);

/**
 * Creates the state directory with access only for the daemon's user. Checks that the daemon can write to the directory. Throws
 * ConfigError.
 */
export async function openStateDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, privateMode);
    await chmod(directory, privateMode);
    await rmdir(await mkdtemp(path.join(directory, ".writable-")));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!lastingCodes.has(code)) throw error;
    throw new ConfigError("RUNTIME_STATE_DIR", directory, `a directory that runtimed can create and write to (error: ${code})`);
  }
}
