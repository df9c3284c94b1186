// The compiler process. Compiles one TypeScript entrypoint and writes one line of JSON to stdout. Hostile code can crash only this process
// and its child process.
import { endProcess } from "../../platform/end-process.js";
import { bundleTypeScript } from "./bundle.js";
import type { CompileJob } from "./compile-job.js";

// Ends when stdin closes, because the daemon has then exited and no process needs the result.
process.stdin.on("close", endProcess).resume();

const { folder, file } = JSON.parse(process.argv[2] as string) as CompileJob;
const result = await bundleTypeScript(folder, file);
process.stdout.write(`${JSON.stringify(result)}\n`, endProcess);
