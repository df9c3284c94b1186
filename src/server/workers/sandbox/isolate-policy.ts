import type { IsolateNeeds } from "../isolates/isolate-pool.js";
import { temporaryFolderOf } from "../isolates/sandbox-folder.js";
import { channelDescriptor } from "../protocol/frames.js";
import { allowsUnixSockets, needsNoNetwork } from "../../config/worker-network.js";
import type { LayerName, SandboxPolicy } from "./sandbox-policy.js";
import { readableSystemPaths, runnableSystemPaths } from "./sandbox-paths.js";

interface IsolatePolicyOptions {
  readonly needs: Pick<IsolateNeeds, "permissions" | "network" | "folder" | "data">;
  readonly slot: string;
  /** True if no other worker's isolates run as the user of this isolate. */
  readonly hasOwnUser: boolean;
  /** Folder that contains the isolate program. */
  readonly program: string;
  readonly required: readonly LayerName[];
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closed?: readonly string[];
}

/**
 * Returns the kernel policy of an isolate. The isolate can read the sandbox folder, the worker and the system files of Node.js. The
 * worker's permissions allow further access.
 */
export function isolatePolicy({ needs, slot, hasOwnUser, program, required, closed = [] }: IsolatePolicyOptions): SandboxPolicy {
  const { permissions, network, folder, data } = needs;
  const granted = (kind: string): string[] =>
    permissions.flatMap((permission) => (permission.startsWith(kind) ? [permission.slice(kind.length)] : []));
  const allowsPrograms = permissions.includes("child-process");
  return {
    readable: [slot, program, ...(folder === undefined ? [] : [folder]), ...readableSystemPaths({ allowsPrograms, closed })],
    runnable: runnableSystemPaths({ allowsPrograms, closed }),
    grantedReadable: [...granted("fs-read:"), ...(data ? [data.folder] : [])],
    writable: [...granted("fs-write:"), temporaryFolderOf(slot), ...(data?.access === "write" ? [data.folder] : [])],
    removable: data?.access === "remove" ? [data.folder] : [],
    network: needsNoNetwork(network) ? "none" : "any",
    allowsUdp: permissions.includes("udp"),
    allowsUnixSockets: allowsPrograms || allowsUnixSockets(network),
    allowsPrograms,
    // Denies changes of attributes if isolates of several workers have the same user. Otherwise an isolate could change files of other
    // workers or of the daemon.
    allowsAttributes: hasOwnUser || granted("fs-write:").length > 0,
    descriptors: [channelDescriptor],
    required,
  };
}
