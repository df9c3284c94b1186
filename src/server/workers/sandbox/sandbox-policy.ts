/** A sandbox policy that allows no access. */
export const emptyPolicy: SandboxPolicy = {
  readable: [],
  runnable: [],
  grantedReadable: [],
  writable: [],
  removable: [],
  network: "none",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  allowsAttributes: false,
  descriptors: [],
  required: [],
};

export const layerNames: readonly LayerName[] = ["landlock", "seccomp"];
const titles: Readonly<Record<LayerName, string>> = { landlock: "Landlock", seccomp: "seccomp" };

/** The kernel policy of one isolate. The daemon passes it to the sandbox program as JSON. */
export interface SandboxPolicy {
  /** Files and folders that the isolate can read. Missing paths are ignored. */
  readonly readable: readonly string[];
  /** Files and folders that the isolate can read and from which it can execute programs. */
  readonly runnable: readonly string[];
  /** Files and folders that the isolate can read by a permission. Symbolic links in these paths are not followed. */
  readonly grantedReadable: readonly string[];
  /** Files and folders that the isolate can write. Symbolic links in these paths are not followed. */
  readonly writable: readonly string[];
  /** Folders in which the isolate can delete entries, but not write. Symbolic links in these paths are not followed. */
  readonly removable: readonly string[];
  /** With `none`, the isolate cannot open network sockets. */
  readonly network: "any" | "none";
  readonly allowsUdp: boolean;
  readonly allowsUnixSockets: boolean;
  /** True when the isolate is allowed to start programs and send signals to them. */
  readonly allowsPrograms: boolean;
  /**
   * True if the isolate is allowed to change mode, times and other attributes of all files of its user. Landlock cannot limit this to
   * folders.
   */
  readonly allowsAttributes: boolean;
  /** File descriptors that the isolate inherits besides 0 to 2. */
  readonly descriptors: readonly number[];
  /** Isolation layers that the isolate must have. If one is missing, its start fails. */
  readonly required: readonly LayerName[];
}

/** An isolation layer that the kernel enforces. */
export type LayerName = "landlock" | "seccomp";

/** State of an isolation layer: active, or inactive with the reason. */
export type LayerState = { readonly isActive: true } | { readonly isActive: false; readonly reason: string };

/** State of each isolation layer of the kernel, as a child process has found it by applying the layers to itself. */
export interface KernelLayers {
  readonly landlock: LayerState & {
    /** Landlock ABI version of the kernel. 0 if the kernel has no Landlock. */
    readonly abi: number;
    /** Descriptions of the rights that this ABI version cannot deny. */
    readonly missingRights: readonly string[];
  };
  readonly seccomp: LayerState;
}

export function noLayers(reason: string): KernelLayers {
  return { landlock: { isActive: false, reason, abi: 0, missingRights: [] }, seccomp: { isActive: false, reason } };
}

/** Returns a phrase for each required layer that is inactive, with the reason. */
export function missingLayers(layers: KernelLayers, required: readonly LayerName[] = layerNames): string[] {
  return required.flatMap((name) => {
    const layer: LayerState = layers[name];
    return layer.isActive ? [] : [`${titles[name]} is missing (${layer.reason})`];
  });
}
