import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { installedFile } from "../installed-file.js";
import type { ServiceMode } from "./service-mode.js";
import { serviceUnit } from "./unit-files.js";

const probeTimeoutMs = 20_000;
const strict = /^Environment=RUNTIME_ISOLATION=strict$/m;

/**
 * Whether the unit asks for strict isolation: a new one where the kernel offers both layers, a unit that is there already as it does now,
 * since an upgrade must not keep a service from starting that ran before.
 */
export async function asksForStrictIsolation(mode: ServiceMode, node: string): Promise<boolean> {
  const present = await readFile(path.join(mode.unitDirectory, serviceUnit), "utf8").catch(() => undefined);
  return present === undefined ? await offersIsolation(node) : strict.test(present);
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
