/** What the kernel lets one isolate do; the daemon hands it to the sandbox program as JSON. */
export interface SandboxPolicy {
  /** Files and folders that may be read. Those that are not there are left out. */
  readonly readable: readonly string[];
  /** Files and folders that may be read, and whose programs may be run. */
  readonly runnable: readonly string[];
  /** Files and folders that may be written to and changed. */
  readonly writable: readonly string[];
  /** `none`: no socket to any network. */
  readonly network: "any" | "none";
  readonly allowsUdp: boolean;
  readonly allowsUnixSockets: boolean;
  /** It may start programs, and signal them. */
  readonly allowsPrograms: boolean;
  /** Descriptors that the isolate inherits, beyond the standard ones. */
  readonly descriptors: readonly number[];
  /** A layer that the kernel does not offer ends the start. */
  readonly isStrict: boolean;
}

/** Opens nothing and allows nothing. */
export const emptyPolicy: SandboxPolicy = {
  readable: [],
  runnable: [],
  writable: [],
  network: "none",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  descriptors: [],
  isStrict: false,
};

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

/** One phrase for each layer that is missing. */
export function missingLayers({ landlock, seccomp }: KernelLayers): string[] {
  return Object.entries({ Landlock: landlock, seccomp }).flatMap(([name, layer]: [string, LayerState]) =>
    layer.isActive ? [] : [`${name} is missing (${layer.reason})`],
  );
}
