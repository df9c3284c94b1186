// Runs a bundle of the command line as its launcher does, and writes its code cache when it has ended.
const { readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");
const { Script } = require("node:vm");

const [filename] = process.argv.splice(2, 1);
const script = new Script(readFileSync(filename, "latin1"), { filename });
process.on("exit", () => writeFileSync(filename.replace(/\.cjs$/, ".cache"), script.createCachedData()));
const bundle = { exports: {} };
script.runInThisContext()(bundle, createRequire(filename), path.dirname(filename));
// A command with flags and one without compile more together than each alone.
const found = { kind: "command", words: "workers list", summary: "" };
const { run } = bundle.exports;
void run({ ...found, rest: [] }, ["workers", "list"]).then(() => run({ ...found, rest: ["--json"] }, ["workers", "list", "--json"]));
