import { findCommand } from "./find-command.js";
import { loadBundle } from "./load-bundle.js";
import { writeAll } from "./write-all.js";

const given = process.argv.slice(2);
const found = findCommand(given);
// Help needs none of the machinery; loading it would double the time to the first line.
if (found.kind === "help") writeAll(1, found.text);
else void loadBundle(found).run(found, given);
