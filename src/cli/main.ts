import { useCompileCache } from "./compile-cache.js";
import { findCommand } from "./find-command.js";
import { writeAll } from "./write-all.js";

const given = process.argv.slice(2);
const found = findCommand(given);
// Help needs none of the modules that run commands; loading them would double the time to the first line.
if (found.kind === "help") writeAll(1, found.text);
else {
  useCompileCache();
  const { runCommandLine } = await import("./run-command.js");
  await runCommandLine(found, given);
  // All output is written: exiting skips the idle connections that are kept for a next request.
  process.exit();
}
