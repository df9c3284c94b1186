import type { IsolateNeeds } from "../isolates/isolate-pool.js";
import { temporaryFolderOf } from "../isolates/sandbox-folder.js";
import { channelDescriptor } from "../protocol/frames.js";
import { allowsUnixSockets, needsNoNetwork } from "../../config/worker-network.js";
import type { LayerName, SandboxPolicy } from "./sandbox-policy.js";
import { readableSystemPaths, runnableSystemPaths } from "./sandbox-paths.js";

interface IsolatePolicyOptions {
  readonly needs: Pick<IsolateNeeds, "permissions" | "network" | "folder" | "data">;
  readonly slot: string;
  /** True if only isolates of the same worker run as the isolate's system user. */
  readonly hasOwnUser: boolean;
  /** Folder that contains the isolate program. */
  readonly program: string;
  readonly required: readonly LayerName[];
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closed?: readonly string[];
}

/**
 * Returns the kernel policy of an isolate. The policy allows reading the sandbox folder, the worker and system files of Node.js, and all
 * access that the permissions grant.
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
    // An isolate that shares its system user could change attributes of files that belong to the daemon or to other workers.
    allowsAttributes: hasOwnUser || granted("fs-write:").length > 0,
    descriptors: [channelDescriptor],
    required,
  };
}
