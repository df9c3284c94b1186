/** Allows nothing. */
export const emptyPolicy: SandboxPolicy = {
  readable: [],
  runnable: [],
  grantedReadable: [],
  writable: [],
  network: "none",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  descriptors: [],
  required: [],
};

export const layerNames: readonly LayerName[] = ["landlock", "seccomp"];
const titles: Readonly<Record<LayerName, string>> = { landlock: "Landlock", seccomp: "seccomp" };

/** What the kernel lets one isolate do; the daemon hands it to the sandbox program as JSON. */
export interface SandboxPolicy {
  /** Files and folders that may be read. Those that are not there are left out. */
  readonly readable: readonly string[];
  /** Files and folders that may be read, and whose programs may be run. */
  readonly runnable: readonly string[];
  /** The same of those that permissions name: not followed through symbolic links. */
  readonly grantedReadable: readonly string[];
  /** Files and folders that may be written to and changed: not followed through symbolic links. */
  readonly writable: readonly string[];
  /** `none`: no socket to any network. */
  readonly network: "any" | "none";
  readonly allowsUdp: boolean;
  readonly allowsUnixSockets: boolean;
  /** It may start programs, and signal them. */
  readonly allowsPrograms: boolean;
  /** Descriptors that the isolate inherits, beyond the standard ones. */
  readonly descriptors: readonly number[];
  /** The start ends where one of these cannot be applied. */
  readonly required: readonly LayerName[];
}

/** A layer that the kernel enforces. */
export type LayerName = "landlock" | "seccomp";

/** Whether a layer stands between an isolate and the machine, and if not, why. */
export type LayerState = { readonly isActive: true } | { readonly isActive: false; readonly reason: string };

/** The layers of the kernel, as one process found them. */
export interface KernelLayers {
  readonly landlock: LayerState & {
    /** 0 = the kernel has none. */
    readonly abi: number;
    /** What this version cannot deny. */
    readonly missingRights: readonly string[];
  };
  readonly seccomp: LayerState;
}

export function noLayers(reason: string): KernelLayers {
  return { landlock: { isActive: false, reason, abi: 0, missingRights: [] }, seccomp: { isActive: false, reason } };
}

/** One phrase for each of the `required` layers that is missing. */
export function missingLayers(layers: KernelLayers, required: readonly LayerName[] = layerNames): string[] {
  return required.flatMap((name) => {
    const layer: LayerState = layers[name];
    return layer.isActive ? [] : [`${titles[name]} is missing (${layer.reason})`];
  });
}
