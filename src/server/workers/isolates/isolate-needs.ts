import type { WorkerNetwork } from "../../config/worker-network.js";

/** What an app needs its isolate to be, beyond a blank like all others. */
export interface IsolateNeeds {
  /** Of heap, and about as much in buffers. */
  readonly memoryBytes: number;
  /** As in the manifest, all within the operator's ceiling. */
  readonly permissions: readonly string[];
  /** An isolate that keeps files runs as the same user each time: the one that belongs to this name. */
  readonly name: string;
  readonly network: WorkerNetwork;
  /** The app's folder, where the isolate's rules must name it; undefined for one that reads its slot alone. */
  readonly folder?: string | undefined;
  /** An entry of that folder that the app does not see. */
  readonly hidden?: string | undefined;
}
