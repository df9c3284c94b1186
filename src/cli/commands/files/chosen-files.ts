import { pluginFiles, workerFiles } from "../../../shared/contract/files.js";
import type { OptionDefinition } from "../../command/command.js";

export interface SurfaceOptions {
  readonly plugins?: boolean;
}

export const pluginsOption: OptionDefinition = {
  flags: "--plugins",
  description: "In the plugin directories instead of the worker directories",
};

/** The operations of one of the two surfaces, which differ in nothing but their paths. */
export function chosenFiles({ plugins }: SurfaceOptions): typeof workerFiles {
  return plugins ? (pluginFiles as unknown as typeof workerFiles) : workerFiles;
}
