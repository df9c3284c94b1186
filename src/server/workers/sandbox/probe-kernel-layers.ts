import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sandboxCommand } from "./sandbox-command.js";
import { noLayers, type KernelLayers, type SandboxPolicy } from "./sandbox-policy.js";

const timeoutMs = 10_000;

/** Opens nothing and allows nothing. */
const emptyPolicy: SandboxPolicy = {
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

/** What the kernel offers to isolates: a process of its own restricts itself and tells. Never rejects. */
export async function probeKernelLayers(): Promise<KernelLayers> {
  if (process.platform !== "linux") return noLayers(`${process.platform} has none that the daemon knows`);
  const [file, ...args] = sandboxCommand(emptyPolicy);
  try {
    const { stdout } = await promisify(execFile)(file as string, args, { env: {}, timeout: timeoutMs });
    return JSON.parse(stdout) as KernelLayers;
  } catch (error) {
    return noLayers(`the sandbox program failed: ${(error as Error).message.trim().split("\n").at(-1)}`);
  }
}
