import type { TestProject } from "vitest/node";
import { startDaemon } from "./start-daemon.js";

/** Address of the daemon that the files of a project share. */
export interface SharedDaemon {
  readonly url: string;
  readonly rootKey: string;
  readonly directory: string;
}

declare module "vitest" {
  interface ProvidedContext {
    sharedDaemon: SharedDaemon;
  }
}

/** Starts one daemon for all files of a project. Each file uses its own namespace (`openNamespace`). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, rootKey, directory, dispose } = await startDaemon();
  project.provide("sharedDaemon", { url, rootKey, directory });
  return dispose;
}
