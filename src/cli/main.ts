import { findCommand } from "./find-command.js";
import { loadBundle } from "./load-bundle.js";
import { writeAll } from "./write-all.js";

const given = process.argv.slice(2);
const found = findCommand(given);
// Help needs none of the machinery; loading it would double the time to the first line.
if (found.kind === "help") writeAll(1, found.text);
// All is written by then: to wait for V8 to take its heap apart would be a twentieth of an empty Node's time.
else
  void loadBundle(found)
    .run(found, given)
    .then(() => process.exit());
