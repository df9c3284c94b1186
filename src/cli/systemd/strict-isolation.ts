import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { installedFile } from "../installed-file.js";
import { environmentOf } from "./present-unit.js";

const probeTimeoutMs = 20_000;

/**
 * Whether the unit asks for strict isolation: a new one where the kernel offers both layers, a unit that is there already as it does now,
 * since an upgrade must not keep a service from starting that ran before.
 */
export async function asksForStrictIsolation(presentUnit: string | undefined, node: string): Promise<boolean> {
  return presentUnit === undefined ? await offersIsolation(node) : environmentOf(presentUnit, "RUNTIME_ISOLATION") === "strict";
}

/** Whether the daemon's sandbox program finds both layers of the kernel. */
async function offersIsolation(node: string): Promise<boolean> {
  const program = installedFile("dist/server/workers/sandbox/main.js");
  try {
    const { stdout } = await promisify(execFile)(node, [program], { timeout: probeTimeoutMs, env: {} });
    const { landlock, seccomp } = JSON.parse(stdout) as Record<"landlock" | "seccomp", { isActive: boolean }>;
    return landlock.isActive && seccomp.isActive;
  } catch {
    return false;
  }
}
