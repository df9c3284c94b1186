import { readdirSync } from "node:fs";

/** What lies in a directory of packages, but for what instances keep there to know of each other, and the slots of isolates. */
export function entriesOf(directory: string): string[] {
  return readdirSync(directory).filter((name) => name !== ".instances" && !name.startsWith(".isolates-"));
}
