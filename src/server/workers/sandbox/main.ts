import { applyKernelLayers } from "./apply-kernel-layers.js";
import type { KernelLayers, SandboxPolicy } from "./sandbox-policy.js";

/** `EX_CONFIG` of sysexits: another start fails in the same way. */
const notConfigured = 78;

/**
 * The program that becomes an isolate: restricts itself by the kernel, then runs the command in its own place. Arguments: the policy as
 * JSON, then the file and arguments of the command. Without a command it prints what the kernel offers, as JSON.
 */
const [policyText, file, ...args] = process.argv.slice(2);
const policy = JSON.parse(policyText as string) as SandboxPolicy;
const layers = await applyKernelLayers(policy);
if (file === undefined) process.stdout.write(JSON.stringify(layers));
else if (policy.isStrict && missing(layers).length > 0) {
  process.stderr.write(`The sandbox is not complete: ${missing(layers).join("; ")}.\n`);
  process.exitCode = notConfigured;
} else process.execve?.(file, [file, ...args], {});

function missing({ landlock, seccomp }: KernelLayers): string[] {
  return [...(landlock.isActive ? [] : [`Landlock (${landlock.reason})`]), ...(seccomp.isActive ? [] : [`seccomp (${seccomp.reason})`])];
}
