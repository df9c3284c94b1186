import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { variables } from "../../../src/server/config/config-variables.js";
import { codeBlocksOf, pagesIn, readPage, repository, stepsOf } from "../../support/documented-commands.js";
import { exceptions } from "../../support/documented-exceptions.js";

const guides = [...(await pagesIn("docs/tutorials")), ...(await pagesIn("docs/how-to"))];
const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "builtin/README.md", ...(await pagesIn("docs"))];

/** The text without code blocks. */
const prose = (text: string) => text.replaceAll(/^```[^]*?^```$/gm, "");

/** GitHub's anchors of the headings. */
function anchorsOf(text: string): string[] {
  return [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("the page %s links only to existing pages and headings", async (page) => {
  const text = prose(await readPage(page));
  for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file = "", anchor] = target.split("#");
    const linked = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
    expect(existsSync(path.join(repository, linked)), `${target} exists`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(await readPage(linked)), target).toContain(anchor);
  }
});

test.each(pages)("the page %s names only existing files of the repository", async (page) => {
  const text = prose(await readPage(page));
  for (const [, name = ""] of text.matchAll(/`((?:src|test|bench|docs|scripts|samples|builtin|bin)\/[\w./@-]+)`/g))
    expect(existsSync(path.join(repository, name)), name).toBe(true);
});

test("the documentation index links to every page", async () => {
  const index = await readPage("docs/index.md");
  const unlinked = (await pagesIn("docs")).filter(
    (page) => !/docs\/(?:index|images\/README|contributing\/.*)\.md/.test(page) && !index.includes(`(${path.posix.relative("docs", page)})`),
  );
  expect(unlinked).toEqual([]);
});

test("the documentation index has one row for each goal, with each link once", async () => {
  const rows = (await readPage("docs/index.md")).split("\n").filter((line) => /^\| (?!---)/.test(line));
  const goals = rows.map((row) => row.split(" | ")[0]);
  expect(goals).toEqual([...new Set(goals)]);
  for (const row of rows) {
    const links = [...row.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
    expect(links).toEqual([...new Set(links)]);
  }
});

describe("tutorials and how-to pages", () => {
  test.each(guides)("the page %s contains at least one shell command", async (page) => {
    expect(stepsOf(page, await readPage(page)).filter(({ kind }) => kind === "command").length).toBeGreaterThan(0);
  });

  test.each(guides)("the page %s has 300 to 900 words and ends with `Verify` and `If it fails`", async (page) => {
    const text = await readPage(page);
    const words = prose(text).split(/\s+/).filter((word) => /\w/.test(word)).length;
    expect(words).toBeGreaterThanOrEqual(300);
    expect(words).toBeLessThanOrEqual(900);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title).slice(-2)).toEqual(["Verify", "If it fails"]);
  });

  test.each(guides)("the page %s never contains `npx runtimectl`", async (page) => {
    expect(await readPage(page)).not.toContain("npx runtimectl");
  });

  test.each(guides)("the page %s shows the output of each curl command that a test runs", async (page) => {
    const silent = stepsOf(page, await readPage(page)).flatMap((step) =>
      step.kind === "command" && step.command.exception === undefined && step.command.text.startsWith("curl ") && step.command.expected.length === 0
        ? [step.command.text]
        : [],
    );
    expect(silent).toEqual([]);
  });
});

test.each(exceptions)("the page $page still contains the command $command, which tests do not run", async ({ page, command }) => {
  const steps = stepsOf(page, await readPage(page));
  expect(steps.some((step) => step.kind === "command" && command.test(step.command.text))).toBe(true);
});

test("the limits page states the correct default of each variable in its tables", async () => {
  const text = await readPage("docs/reference/limits.md");
  const rows = [...text.matchAll(/^\|.*`(RUNTIME_\w+)`.*$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [row, name] of rows) {
    const variable = variables.find((candidate) => candidate.name === name);
    expect(variable, name).toBeDefined();
    expect(row, name).toContain(`\`${variable?.fallback}\``);
  }
});

test("every code block of every page has a closing fence", async () => {
  for (const page of pages) {
    const text = await readPage(page);
    expect([page, (text.match(/^```/gm) ?? []).length % 2]).toEqual([page, 0]);
    expect(codeBlocksOf(text).length).toBe((text.match(/^```/gm) ?? []).length / 2);
  }
});
