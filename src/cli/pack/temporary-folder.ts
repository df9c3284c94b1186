import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import type { Context } from "../command/command.js";

/** Creates a folder that only the current user can read. The command deletes the folder when it ends. */
export async function temporaryFolder(context: Context): Promise<string> {
  const directory = await mkdtemp(path.join(context.directories.temporary, "runtimectl-"));
  context.onExit(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
