import { compiledFile } from "../../package-root.js";
import type { SandboxPolicy } from "./sandbox-policy.js";

/** The program that restricts itself by the kernel and becomes an isolate; the user that runs it must be able to read it. */
export const sandboxProgram = compiledFile("server/workers/sandbox/main.js");

/** What to put before a command that is to run under `policy`. */
export function sandboxCommand(policy: SandboxPolicy): string[] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", sandboxProgram, JSON.stringify(policy)];
}
