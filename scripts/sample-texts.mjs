// Prints 30 comments, 30 test names and 30 error messages for a review by the style rules of CONTRIBUTING.md. The argument is the seed.
// With equal sources, equal seeds print equal samples.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.join(import.meta.dirname, "..");
const sampleSize = 30;
const seed = Number(process.argv[2] ?? 31);
/** Position of the message among the arguments of each error constructor or function. */
const messagePositions = { ApiError: 1, CommandError: 1, ConfigError: 2, usageError: 0 };

const files = execFileSync("git", ["ls-files", "src", "test"], { cwd: root, encoding: "utf8" }).split("\n");
const populations = { comments: [], "test names": [], "error messages": [] };
for (const file of files.filter((name) => /\.tsx?$/.test(name) && !name.startsWith("test/fixtures/"))) {
  const text = readFileSync(path.join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  if (file.startsWith("src/")) {
    populations.comments.push(...commentsOf(source).map(entryOf(file)));
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

/** Returns the text of each comment. Line comments on consecutive lines are one comment. */
function commentsOf(source) {
  const { text } = source;
  const comments = [];
  for (const { pos, end, kind } of commentRangesOf(source)) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia && /(?:^|\n)[ \t]*$/.test(text.slice(0, pos));
    const last = comments.at(-1);
    if (isLine && last?.isLine && /^\r?\n[ \t]*$/.test(text.slice(last.end, pos))) {
      last.text += ` ${contentOf(text.slice(pos, end))}`;
      last.end = end;
    } else comments.push({ text: contentOf(text.slice(pos, end)), end, isLine });
  }
  return comments.map((comment) => comment.text).filter((comment) => /[a-z]/.test(comment) && !comment.includes("oxlint-disable"));
}

/** Returns the comments that TypeScript's scanner finds around the tokens. The text of strings, templates and JSX has no comments. */
function commentRangesOf(source) {
  const ranges = new Map();
  const visit = (node) => {
    if (node.kind === ts.SyntaxKind.JsxText) return;
    const around = [ts.getLeadingCommentRanges(source.text, node.getFullStart()), ts.getTrailingCommentRanges(source.text, node.getEnd())];
    for (const range of around.flatMap((found) => found ?? [])) ranges.set(range.pos, range);
    for (const child of node.getChildren(source)) if (child.kind !== ts.SyntaxKind.JSDoc) visit(child);
  };
  visit(source);
  return [...ranges.values()].toSorted((one, other) => one.pos - other.pos);
}

/** Returns the text of a comment without its delimiters. */
function contentOf(comment) {
  return comment.startsWith("//")
    ? comment.slice(2)
    : comment
        .replace(/^\/\*\*?/, "")
        .replace(/\*\/$/, "")
        .replaceAll(/^\s*\* ?/gm, "");
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

/** Returns the test names. Each name starts with the names of the enclosing `describe` blocks. */
function testNamesOf(source) {
  return callsOf(source, (callee) => callee === "test" || callee === "it").flatMap((call) => {
    const names = [];
    for (let node = call; node; node = node.parent)
      if (ts.isCallExpression(node) && ["describe", "test", "it"].includes(calleeOf(node, source)))
        names.unshift(textOf(node.arguments[0], source));
    return names.at(-1) === undefined ? [] : [names.filter((name) => name !== undefined).join(" › ")];
  });
}

/**
 * Returns the error messages as users read them. A ConfigError shows the variable before the accepted values. A hint follows the message.
 */
function errorsOf(source) {
  return callsOf(source, (callee) => callee in messagePositions).flatMap((call) => {
    const callee = calleeOf(call, source);
    const message = textOf(call.arguments?.[messagePositions[callee]], source);
    if (message === undefined) return [];
    if (callee === "ConfigError") return [`VARIABLE="value" is not accepted: it takes ${message}.`];
    const hint = hintOf(call, source);
    return [hint === undefined ? message : `${message} (hint: ${hint})`];
  });
}

/** Returns the hint of a CommandError or usage error. If the hint is computed, returns its source text. Undefined without a hint. */
function hintOf(call, source) {
  if (calleeOf(call, source) === "usageError") return sourceTextOf(call.arguments[1], source);
  const property = call.arguments?.[2]?.properties?.find(({ name }) => name?.getText(source) === "hint");
  return sourceTextOf(property?.initializer, source);
}

function sourceTextOf(node, source) {
  return node && (textOf(node, source) ?? `\${${node.getText(source)}}`);
}

/** Returns the text of a string or template. Undefined for other expressions. */
function textOf(node, source) {
  return node && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) ? node.getText(source).slice(1, -1) : undefined;
}

/** Returns a random sample without repetition. The random numbers come from the generator mulberry32. */
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
