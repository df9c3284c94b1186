import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sandboxProgram } from "./sandbox-command.js";
import { noLayers, type KernelLayers } from "./sandbox-policy.js";

const timeoutMs = 10_000;

/** Returns the kernel layers that can restrict isolates. A child process applies them to itself and reports the result. Never rejects. */
export async function probeKernelLayers(): Promise<KernelLayers> {
  if (process.platform !== "linux") return noLayers(`the daemon supports no kernel layer on ${process.platform}`);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [sandboxProgram], { env: {}, timeout: timeoutMs });
    return JSON.parse(stdout) as KernelLayers;
  } catch (error) {
    return noLayers(`the sandbox program failed: ${(error as Error).message.trim().split("\n").at(-1)}`);
  }
}
