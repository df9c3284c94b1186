import { findCommand } from "./find-command.js";

const given = process.argv.slice(2);
const found = findCommand(given);
// Help needs none of the machinery below; loading it would double the time to the first line.
if (found.kind === "help") {
  process.stdout.on("error", () => process.exit());
  process.stdout.write(found.text);
} else {
  const { runCommand } = await import("./run-command.js");
  await runCommand(found, given);
}
