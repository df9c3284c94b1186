// Runs the bundled command line as its launcher does, and writes the code cache when it has ended.
const { readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");
const { Script } = require("node:vm");

const [directory] = process.argv.splice(2, 1);
const filename = path.join(directory, "runtimectl.cjs");
const script = new Script(readFileSync(filename, "latin1"), { filename });
process.on("exit", () => writeFileSync(path.join(directory, "runtimectl.cache"), script.createCachedData()));
const bundle = { exports: {} };
script.runInThisContext()(bundle, createRequire(filename), directory);
void bundle.exports.runCommand({ kind: "command", words: "workers list", summary: "", rest: [] }, ["workers", "list"]);
