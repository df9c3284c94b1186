import { existsSync } from "node:fs";
import path from "node:path";

/** Returns the path of a system program, or undefined if the program is not installed. */
export function findSystemTool(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
