// The compiler process. Compiles one TypeScript entrypoint and writes one line of JSON to stdout. Hostile code can crash only this process
// and its child process.
import { bundleTypeScript } from "./bundle.js";
import type { CompileJob } from "./compile-job.js";

// Exits when stdin closes, because the daemon has then exited and no process needs the result.
process.stdin.on("close", () => process.exit(1)).resume();

const { folder, file } = JSON.parse(process.argv[2] as string) as CompileJob;
const result = await bundleTypeScript(folder, file);
process.stdout.write(JSON.stringify(result), () => process.exit(0));
