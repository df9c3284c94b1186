// Prints 30 comments, 30 test names and 30 error messages for a review by the style rules of CONTRIBUTING.md. A number as argument
// replaces the seed; equal seeds and equal sources give equal samples.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.join(import.meta.dirname, "..");
const sampleSize = 30;
const seed = Number(process.argv[2] ?? 31);
/** Position of the message among the arguments. */
const messagePositions = { ApiError: 1, CommandError: 1, ConfigError: 2, usageError: 0 };

const files = execFileSync("git", ["ls-files", "src", "test"], { cwd: root, encoding: "utf8" }).split("\n");
const populations = { comments: [], "test names": [], "error messages": [] };
for (const file of files.filter((name) => /\.tsx?$/.test(name) && !name.startsWith("test/fixtures/"))) {
  const text = readFileSync(path.join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  if (file.startsWith("src/")) {
    populations.comments.push(...commentsOf(text).map(entryOf(file)));
    populations["error messages"].push(...errorsOf(source).map(entryOf(file)));
  } else if (/\.(?:test|sweep)\.tsx?$/.test(file)) populations["test names"].push(...testNamesOf(source).map(entryOf(file)));
}
for (const [title, entries] of Object.entries(populations)) {
  console.log(`\n${title}: ${Math.min(sampleSize, entries.length)} of ${entries.length}, seed ${seed}`);
  for (const [index, entry] of draw(entries).entries()) console.log(`${String(index + 1).padStart(2)}. ${entry}`);
}

function entryOf(file) {
  return (text) => `${text.replaceAll(/\s+/g, " ").trim()}  [${file}]`;
}

/** Consecutive line comments are one comment. */
function commentsOf(text) {
  return [...text.matchAll(/\/\*\*?([^]*?)\*\/|(?:^[ \t]*\/\/.*\n)+/gm)]
    .map(([whole, block]) => (block ?? whole.replaceAll(/^[ \t]*\/\/ ?/gm, "")).replaceAll(/^\s*\* ?/gm, ""))
    .filter((comment) => /[a-z]/.test(comment) && !/oxlint-disable/.test(comment));
}

function callsOf(source, isWanted) {
  const calls = [];
  const visit = (node) => {
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && isWanted(calleeOf(node, source))) calls.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return calls;
}

/** Returns the name of the called function; `test` for `test.each(rows)(…)`. */
function calleeOf({ expression }, source) {
  return /^\w+/.exec(expression.getText(source))?.[0] ?? "";
}

/** Test names, with the names of the enclosing `describe` blocks. */
function testNamesOf(source) {
  return callsOf(source, (callee) => callee === "test" || callee === "it").flatMap((call) => {
    const names = [];
    for (let node = call; node; node = node.parent)
      if (ts.isCallExpression(node) && ["describe", "test", "it"].includes(calleeOf(node, source)))
        names.unshift(textOf(node.arguments[0], source));
    return names.at(-1) === undefined ? [] : [names.filter((name) => name !== undefined).join(" › ")];
  });
}

function errorsOf(source) {
  return callsOf(source, (callee) => callee in messagePositions).flatMap((call) => {
    const message = textOf(call.arguments?.[messagePositions[calleeOf(call, source)]], source);
    return message === undefined ? [] : [message];
  });
}

/** Returns the text of a string or template. Undefined for other expressions. */
function textOf(node, source) {
  return node && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) ? node.getText(source).slice(1, -1) : undefined;
}

/** Returns a random sample without repetition, by the generator mulberry32. */
function draw(entries) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const remaining = [...entries];
  return Array.from(
    { length: Math.min(sampleSize, entries.length) },
    () => remaining.splice(Math.floor(random() * remaining.length), 1)[0],
  );
}
