import { readFileSync } from "node:fs";
import { getPriority } from "node:os";

/** CAP_SYS_NICE of capabilities(7). */
const niceCapability = 1n << 23n;

/**
 * Whether this process may take back a niceness that it gave: with the capability, or its own processes within the limit of getrlimit(2),
 * `LimitNICE` of systemd. Without it, who yields the processor once does so for good.
 */
export function canRaisePriority(): boolean {
  try {
    if (hasCapability()) return true;
    const limit = /^Max nice priority\s+(\w+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    // Root's isolates are other users.
    return process.getuid?.() !== 0 && (limit === "unlimited" || Number(limit) >= 20 - getPriority());
  } catch {
    return false;
  }
}

/** In the kernel's own namespace of users; a container's root has all capabilities, and they count in there only. */
function hasCapability(): boolean {
  const effective = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  const users = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/).join(" ");
  return (BigInt(`0x${effective}`) & niceCapability) !== 0n && users === "0 0 4294967295";
}
