// A process of its own: compiles one TypeScript entrypoint, writes one line of JSON to stdout, ends.
// What code can do to a compiler, it does to this process and its child; the daemon only sees it end.
import { bundleTypeScript } from "./bundle.js";
import type { CompileJob } from "./compile-job.js";

// The daemon holds the other end; when it dies, nobody waits for this any more.
process.stdin.on("close", () => process.exit(1)).resume();

const { folder, file } = JSON.parse(process.argv[2] as string) as CompileJob;
const result = await bundleTypeScript(folder, file);
process.stdout.write(JSON.stringify(result), () => process.exit(0));
