import { KernelError, openKernel, type Kernel } from "./kernel.js";
import { applyLandlock } from "./landlock.js";
import { noLayers, type KernelLayers, type SandboxPolicy } from "./sandbox-policy.js";
import { buildSeccompFilter, encodeFilter } from "./seccomp-filter.js";
import { processorCalls } from "./system-calls.js";

interface Applied {
  readonly layers: KernelLayers;
  /** Exits this process immediately. The event loop does not run again. */
  readonly exit: (status: number) => void;
}

/**
 * Restricts this thread and the program that it executes next, by the layers that the kernel supports. The event loop must not run
 * afterwards, because libuv would use io_uring, which the seccomp filter denies.
 */
export async function applyKernelLayers(policy: SandboxPolicy): Promise<Applied> {
  const processor = processorCalls();
  if (processor === undefined) return without(`system calls of ${process.arch} are not known to the daemon`);
  let kernel: Kernel;
  try {
    kernel = await openKernel();
    for (const descriptor of policy.descriptors) kernel.keepOpen(descriptor);
    kernel.denyNewPrivileges();
  } catch (error) {
    return without(error instanceof KernelError ? error.message : `the package koffi cannot be loaded (${firstLine(error)})`);
  }
  const landlock = applyLandlock(kernel, processor.calls, policy);
  const filter = buildSeccompFilter(processor, {
    landlockAbi: landlock.isActive ? landlock.abi : 0,
    pid: process.pid,
    network: policy.network,
    allowsUdp: policy.allowsUdp,
    allowsUnixSockets: policy.allowsUnixSockets,
    allowsPrograms: policy.allowsPrograms,
    allowsAttributes: policy.allowsAttributes,
  });
  try {
    kernel.filterCalls(processor.calls["seccomp"] as number, encodeFilter(filter));
    return { layers: { landlock, seccomp: { isActive: true } }, exit: kernel.exit };
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return { layers: { landlock, seccomp: { isActive: false, reason: error.message } }, exit: kernel.exit };
  }
}

function without(reason: string): Applied {
  return { layers: noLayers(reason), exit: (status) => process.exit(status) };
}

function firstLine(error: unknown): string {
  return String(error).split("\n", 1)[0] as string;
}
