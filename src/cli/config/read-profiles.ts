import { existsSync } from "node:fs";
import { configFile } from "./config-directory.js";
import type { Profiles } from "./config-file.js";

/** Reads config.yaml for a command that does not change the file. */
export async function readProfiles(directory: string): Promise<Profiles> {
  if (!existsSync(configFile(directory))) return { current: undefined, profiles: new Map() };
  const { ConfigFile } = await import("./config-file.js");
  return ConfigFile.open(directory);
}
