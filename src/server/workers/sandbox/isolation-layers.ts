import { missingLayers, type KernelLayers, type LayerState } from "./sandbox-policy.js";

/** One isolation layer between the process of a worker and the operating system. */
export interface IsolationLayer {
  readonly name: "own-user" | "landlock" | "seccomp" | "frozen-flags" | "permission-model";
  readonly isActive: boolean;
  /** Description of the access that the layer denies and cannot deny. If the layer is inactive, the reason. */
  readonly message: string;
}

/** Thrown if the kernel lacks isolation layers that RUNTIME_ISOLATION=strict requires. The next start of the daemon would fail too. */
export class MissingSandboxError extends Error {
  constructor(missing: readonly string[]) {
    super(`RUNTIME_ISOLATION=strict requires kernel restrictions that are missing: ${missing.join("; ")}`);
    this.name = "MissingSandboxError";
  }
}

/** Throws MissingSandboxError when the kernel does not support all isolation layers. */
export function assertSandbox(layers: KernelLayers): void {
  const missing = missingLayers(layers);
  if (missing.length > 0) throw new MissingSandboxError(missing);
}

/** Returns all layers with their state. `ownUser` is the state of the layer in which each isolate runs as its own user. */
export function isolationLayers({ landlock, seccomp }: KernelLayers, ownUser: LayerState): IsolationLayer[] {
  return [
    layerOf("own-user", ownUser, "each isolate runs as a user of its own"),
    layerOf("landlock", landlock, describeLandlock(landlock)),
    layerOf("seccomp", seccomp, "isolates cannot listen, trace, mount or make namespaces"),
    { name: "frozen-flags", isActive: true, message: "V8 accepts no flag after its start" },
    { name: "permission-model", isActive: true, message: "Node denies files beyond the app's folder, programs and threads" },
  ];
}

function describeLandlock({ abi, missingRights }: KernelLayers["landlock"]): string {
  const files = `version ${abi}: isolates read their app and what Node needs of the machine`;
  return missingRights.length === 0 ? files : `${files}; this kernel does not deny ${missingRights.join(", ")}`;
}

function layerOf(name: IsolationLayer["name"], state: LayerState, message: string): IsolationLayer {
  return { name, isActive: state.isActive, message: state.isActive ? message : state.reason };
}
