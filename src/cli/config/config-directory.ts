import path from "node:path";

export function configFile(directory: string): string {
  return path.join(directory, "config.yaml");
}
