import { writeSync } from "node:fs";
import { applyKernelLayers } from "./apply-kernel-layers.js";
import { emptyPolicy, missingLayers, type SandboxPolicy } from "./sandbox-policy.js";

/** Exit status if a required kernel layer is missing (EX_CONFIG of sysexits.h). */
const notConfigured = 78;

/**
 * Restricts this process with kernel layers, then executes the command in place of this process. Arguments: the policy as JSON, then the
 * command. Without arguments, prints the available kernel layers as JSON.
 */
const [policyText, file, ...args] = process.argv.slice(2);
const policy = policyText === undefined ? emptyPolicy : (JSON.parse(policyText) as SandboxPolicy);
const { layers, exit } = await applyKernelLayers(policy);
const missing = missingLayers(layers, policy.required);
if (file === undefined) {
  writeSync(1, JSON.stringify(layers));
  exit(0);
} else if (missing.length > 0) {
  writeSync(2, `The sandbox is not complete: ${missing.join("; ")}.\n`);
  exit(notConfigured);
} else process.execve?.(file, [file, ...args], {});
