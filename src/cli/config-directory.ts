import path from "node:path";
import envPaths from "env-paths";
import type { Environment } from "./environment.js";

/** The folder of config.yaml and credentials.json. */
export function configDirectory(environment: Environment): string {
  return environment.RUNTIMECTL_CONFIG_DIR ?? envPaths("runtimectl", { suffix: "" }).config;
}

export function configFile(directory: string): string {
  return path.join(directory, "config.yaml");
}
