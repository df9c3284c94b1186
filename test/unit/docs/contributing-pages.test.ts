import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { pagesIn, readPage, repository } from "../../support/documented-commands.js";

const pages = await pagesIn("docs/contributing");
const mostLines = 150;
const mostTerms = 60;
/** Folders with which a path on a page can begin. A path that begins with a folder below `src` lacks the prefix `src/`. */
const firstFolders = [repository, path.join(repository, "src"), path.join(repository, "src/server")].flatMap((folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
);
/** Folders that the build creates. */
const built = ["dist", "build", "node_modules"];

/** The texts in backticks outside of code blocks. */
function literalsOf(text: string): string[] {
  return [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, literal = ""]) => literal);
}

function isRepositoryPath(literal: string): boolean {
  if (!/^[\w@][\w@.-]*(?:\/[\w@.-]+)+\/?$/.test(literal)) return false;
  const [first = ""] = literal.split("/");
  if (built.includes(first)) return false;
  return firstFolders.includes(first) || /\.(?:tsx?|[cm]?js|md|ya?ml|json)$/.test(literal);
}

/** The files and functions of each `file › function, function`. */
function hopsOf(text: string): { readonly file: string; readonly functions: readonly string[] }[] {
  return literalsOf(text).flatMap((literal) => {
    const [file = "", functions] = literal.split(" › ");
    return functions === undefined ? [] : [{ file, functions: functions.split(", ") }];
  });
}

/** The names of functions, methods, and of variables and properties that are functions. */
async function functionsIn(file: string): Promise<ReadonlySet<string>> {
  const source = ts.createSourceFile(file, await readPage(file), ts.ScriptTarget.Latest);
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isFunction =
      ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isGetAccessor(node) || (hasFunction(node) && isNamed(node));
    if (isFunction && node.name) names.add(node.name.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

function isNamed(node: ts.Node): node is ts.VariableDeclaration | ts.PropertyDeclaration | ts.PropertyAssignment {
  return ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node);
}

function hasFunction(node: ts.Node): boolean {
  return isNamed(node) && node.initializer !== undefined && (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer));
}

describe("pages for contributors", () => {
  test.each(pages)(`the page %s has at most ${mostLines} lines`, async (page) => {
    expect((await readPage(page)).trimEnd().split("\n").length).toBeLessThanOrEqual(mostLines);
  });

  test.each(pages)("the page %s names only existing paths", async (page) => {
    const missing = literalsOf(await readPage(page)).filter(
      (literal) => isRepositoryPath(literal) && !existsSync(path.join(repository, literal)),
    );
    expect(missing).toEqual([]);
  });

  test.each(pages)("the page %s assigns each function to a file that contains the function", async (page) => {
    const missing: string[] = [];
    for (const { file, functions } of hopsOf(await readPage(page))) {
      const known = existsSync(path.join(repository, file)) ? await functionsIn(file) : new Set();
      missing.push(...functions.filter((name) => !known.has(name)).map((name) => `${file} › ${name}`));
    }
    expect(missing).toEqual([]);
  });

  test("each page is linked from the index or from another page for contributors", async () => {
    const links = new Set<string>();
    for (const page of ["docs/index.md", ...pages])
      for (const [, target = ""] of (await readPage(page)).matchAll(/\]\(([^)\s#]+)/g))
        if (target.endsWith(".md")) links.add(path.posix.join(path.posix.dirname(page), target));
    expect(pages.filter((page) => !links.has(page))).toEqual([]);
  });
});

test("the architecture page states the correct number of hops for each request path", async () => {
  const sections = (await readPage("docs/contributing/architecture.md")).split(/^## /m);
  const counts = sections.flatMap((section) => {
    const stated = /^\d+(?= hops)/m.exec(section)?.[0];
    const numbers = [...section.matchAll(/(?:^|→ )(\d+)\. /gm)].map(([, number]) => Number(number));
    return stated === undefined ? [] : [{ stated: Number(stated), numbers }];
  });
  expect(counts.length).toBe(5);
  for (const { stated, numbers } of counts) expect(numbers).toEqual(Array.from({ length: stated }, (_, index) => index + 1));
});

test(`the glossary has at most ${mostTerms} terms`, async () => {
  const rows = [...(await readPage("docs/contributing/glossary.md")).matchAll(/^\| (?!Term|---)/gm)];
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(mostTerms);
});
