import { configFile } from "./config-directory.js";
import type { Profiles } from "./config-file.js";
import { readPlainConfig } from "./plain-config.js";
import { readFileIfThere } from "./read-file-if-there.js";

/** Reads config.yaml for a command that changes nothing in it, without the YAML parser when the file is plain. */
export async function readProfiles(directory: string): Promise<Profiles> {
  const plain = readPlainConfig(readFileIfThere(configFile(directory)) ?? "");
  if (plain !== undefined) return plain;
  const { ConfigFile } = await import("./config-file.js");
  return ConfigFile.open(directory);
}
