import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sandboxProgram } from "./sandbox-command.js";
import { noLayers, type KernelLayers } from "./sandbox-policy.js";

const timeoutMs = 10_000;

/** What the kernel offers to isolates: a process of its own restricts itself and tells. Never rejects. */
export async function probeKernelLayers(): Promise<KernelLayers> {
  if (process.platform !== "linux") return noLayers(`${process.platform} has none that the daemon knows`);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [sandboxProgram], { env: {}, timeout: timeoutMs });
    return JSON.parse(stdout) as KernelLayers;
  } catch (error) {
    return noLayers(`the sandbox program failed: ${(error as Error).message.trim().split("\n").at(-1)}`);
  }
}
