// Runs a bundle of the command line as its launcher does, and writes its code cache when it has ended.
const { readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { createRequire } = require("node:module");
const { PassThrough } = require("node:stream");
const tty = require("node:tty");
const v8 = require("node:v8");
const { Script } = require("node:vm");

// V8 takes a cache only where the flags are those it was made with: what a running command sets must not be in it.
v8.setFlagsFromString = () => {};

const [filename, ...words] = process.argv.splice(2);
const script = new Script(readFileSync(filename, "latin1"), { filename });
process.on("exit", () => writeFileSync(filename.replace(/\.cjs$/, ".cache"), script.createCachedData()));
const bundle = { exports: {} };
script.runInThisContext()(bundle, createRequire(filename), path.dirname(filename));
const { run } = bundle.exports;
const found = { kind: "command", words: words.join(" "), summary: "" };
if (found.words === "tui") runInStandIn();
// A command with flags and one without compile more together than each alone.
else void run({ ...found, rest: [] }, words).then(() => run({ ...found, rest: ["--json"] }, [...words, "--json"]));

/** A build has no terminal: the dashboard gets streams that look like one, and is quit when it has drawn all that the daemon said. */
function runInStandIn() {
  tty.isatty = () => true;
  const stdin = Object.assign(new PassThrough(), { setRawMode() {} });
  const stdout = Object.assign(new PassThrough(), { columns: 100, rows: 30 });
  stdout.on("data", (chunk) => {
    if (chunk.includes("in flight")) stdin.write("q");
  });
  Object.defineProperty(process, "stdin", { value: stdin });
  Object.defineProperty(process, "stdout", { value: stdout });
  setTimeout(() => process.exit(1), 30_000).unref();
  void run({ ...found, rest: [] }, words);
}
