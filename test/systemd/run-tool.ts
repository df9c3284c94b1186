import { execFile } from "node:child_process";

export interface ToolEnd {
  readonly status: number;
  /** Output on stdout and stderr. */
  readonly output: string;
}

/** Runs a system program to its end. Rejects if the program does not exist. */
export function runTool(file: string, ...args: readonly string[]): Promise<ToolEnd> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error?.code === "ENOENT") return reject(new Error(`${file} is not installed; this test needs it (apt install systemd strace)`));
      resolve({ status: typeof error?.code === "number" ? error.code : error ? 1 : 0, output: stdout + stderr });
    });
  });
}
