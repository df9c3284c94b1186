/** Allows nothing. */
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

/** The kernel policy of one isolate; the daemon passes it to the sandbox program as JSON. */
export interface SandboxPolicy {
  /** Readable files and folders. Missing ones are ignored. */
  readonly readable: readonly string[];
  /** Readable files and folders whose programs are also executable. */
  readonly runnable: readonly string[];
  /** Readable files and folders that permissions name; symbolic links are not followed. */
  readonly grantedReadable: readonly string[];
  /** Writable files and folders; symbolic links are not followed. */
  readonly writable: readonly string[];
  /** Folders whose entries can be deleted and not written; symbolic links are not followed. */
  readonly removable: readonly string[];
  /** `none`: no network sockets. */
  readonly network: "any" | "none";
  readonly allowsUdp: boolean;
  readonly allowsUnixSockets: boolean;
  /** The isolate is allowed to start programs and signal them. */
  readonly allowsPrograms: boolean;
  /** The isolate is allowed to change modes, times and other attributes of files of its user, which Landlock cannot limit to folders. */
  readonly allowsAttributes: boolean;
  /** File descriptors that the isolate inherits besides the standard ones. */
  readonly descriptors: readonly number[];
  /** Layers without which the start fails. */
  readonly required: readonly LayerName[];
}

/** An isolation layer that the kernel enforces. */
export type LayerName = "landlock" | "seccomp";

/** Whether an isolation layer is active, and the reason if not. */
export type LayerState = { readonly isActive: true } | { readonly isActive: false; readonly reason: string };

/** The kernel layers that one process could apply. */
export interface KernelLayers {
  readonly landlock: LayerState & {
    /** Landlock ABI version; 0 = not supported. */
    readonly abi: number;
    /** Rights that this version cannot deny. */
    readonly missingRights: readonly string[];
  };
  readonly seccomp: LayerState;
}

export function noLayers(reason: string): KernelLayers {
  return { landlock: { isActive: false, reason, abi: 0, missingRights: [] }, seccomp: { isActive: false, reason } };
}

/** Returns a phrase for each required layer that is inactive. */
export function missingLayers(layers: KernelLayers, required: readonly LayerName[] = layerNames): string[] {
  return required.flatMap((name) => {
    const layer: LayerState = layers[name];
    return layer.isActive ? [] : [`${titles[name]} is missing (${layer.reason})`];
  });
}
