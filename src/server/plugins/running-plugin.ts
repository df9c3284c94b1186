import type { ActivePlugin } from "./active-plugin.js";

/** A plugin at work and what is needed to tell whether it may stay. */
export interface RunningPlugin {
  readonly active: ActivePlugin;
  readonly codeHash: string | undefined;
  /** It was made by a factory, so there may be another one beside it; an object is one for good. */
  readonly isMade: boolean;
  /** The instances of its dependencies, as they were when it was initialised. */
  readonly dependencies: ReadonlyMap<string, RunningPlugin | undefined>;
  /** What its `provides()` gave. */
  readonly provided: unknown;
}
