import { chmod, mkdtemp, rmdir } from "node:fs/promises";
import path from "node:path";
import { ConfigError } from "./config-error.js";
import { makeDirectory } from "../platform/make-directory.js";

const privateMode = 0o700;
/** Error codes that another start would also have. Other errors, such as a full disk, can end by themselves. */
const lastingCodes = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT", "EEXIST", "ELOOP", "ENAMETOOLONG"]);

/** Creates the state directory, readable only for this user, and checks that it is writable. Throws ConfigError with the variable. */
export async function openStateDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, privateMode);
    await chmod(directory, privateMode);
    await rmdir(await mkdtemp(path.join(directory, ".writable-")));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!lastingCodes.has(code)) throw error;
    throw new ConfigError("RUNTIME_STATE_DIR", directory, `a directory that runtimed can make and write to (${code})`);
  }
}
