import { readdirSync } from "node:fs";

/** Returns the entries of a package directory, except for files of peers and sandbox folders. */
export function entriesOf(directory: string): string[] {
  return readdirSync(directory).filter((name) => name !== ".instances" && !name.startsWith(".isolates-"));
}
