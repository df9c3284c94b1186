import { pluginFiles, workerFiles } from "../../../shared/contract/files.js";
import type { OptionDefinition } from "../../command/command.js";

export interface SurfaceOptions {
  readonly plugins?: boolean;
}

export const pluginsOption: OptionDefinition = {
  flags: "--plugins",
  description: "Use the plugin directories instead of the worker directories",
};

/** Returns the API operations on the files of workers, or on the files of plugins if `--plugins` is set. */
export function chosenFiles({ plugins }: SurfaceOptions): typeof workerFiles {
  return plugins ? (pluginFiles as unknown as typeof workerFiles) : workerFiles;
}
