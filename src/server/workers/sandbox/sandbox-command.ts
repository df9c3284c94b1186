import { compiledFile } from "../../package-root.js";
import type { SandboxPolicy } from "./sandbox-policy.js";

/** The sandbox program, which restricts itself and then executes the isolate. The isolate's user must be able to read this file. */
export const sandboxProgram = compiledFile("server/workers/sandbox/main.js");

/** Returns the beginning of a command line. The command after it runs under `policy`. */
export function sandboxCommand(policy: SandboxPolicy): string[] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", sandboxProgram, JSON.stringify(policy)];
}
