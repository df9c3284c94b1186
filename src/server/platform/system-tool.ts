import { existsSync } from "node:fs";
import path from "node:path";

/** Path of a program of the system; undefined where this machine lacks it. */
export function findSystemTool(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
