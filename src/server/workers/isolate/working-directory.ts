import path from "node:path";

/**
 * Replaces `process.chdir`. The worker can change only to folders that it can read. Returns the original function, with which the isolate
 * enters the worker's folder when it loads the worker.
 */
export function installWorkingDirectory(): (appFolder: string) => void {
  const change = process.chdir.bind(process);
  const chdir = (directory: string): void => {
    if (typeof directory === "string" && process.permission.has("fs.read", path.resolve(directory))) return change(directory);
    const message = `A worker cannot change its working directory to ${JSON.stringify(directory)}: it can only be a folder of the worker's package.`;
    throw Object.assign(new Error(message), { code: "ERR_ACCESS_DENIED", syscall: "chdir" });
  };
  Object.defineProperty(process, "chdir", { value: chdir, writable: false, configurable: false, enumerable: true });
  return change;
}
