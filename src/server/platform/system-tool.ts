import { existsSync } from "node:fs";
import path from "node:path";

/** Returns the path of a system program; undefined when it is not installed. */
export function findSystemTool(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
