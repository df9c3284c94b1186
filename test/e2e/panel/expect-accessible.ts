import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { narrow, wide } from "./panel-browser.js";

/** Light and dark, where there is much room and where there is little; neighbours differ in one thing only. */
const looks = [
  ["light", wide],
  ["dark", wide],
  ["dark", narrow],
  ["light", narrow],
] as const;

/** All of axe's usual rules, and the one of WCAG 2.2 AA that is not on by itself. A frame that does not answer would not be looked at. */
const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } }, pingWaitTime: 20_000 };

/** The frame of a plugin has an origin of its own. */
const axeSource = `${readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8")}
axe.configure({ allowedOrigins: ["<unsafe_all_origins>"] });`;

/** Another theme or size is on the screen. A page that draws nothing, since nobody looks at it, is not waited for. */
const untilDrawn = `new Promise((resolve) => {
  const settle = () => {
    // What is skipped while nobody sees it keeps the colours of the look before.
    for (const element of document.querySelectorAll("body *"))
      if (getComputedStyle(element).contentVisibility === "auto") element.style.contentVisibility = "visible";
    resolve();
  };
  requestAnimationFrame(() => requestAnimationFrame(settle));
  setTimeout(settle, 1000);
})`;

/** What axe does not look for: one main heading, nothing that moves, and nothing beside the page that only scrolling sideways would show. */
const shape = `({
  headings: document.querySelectorAll("h1").length,
  moving: document.getAnimations().length,
  overflowPx: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})`;

/** In every look axe finds nothing, and nothing is wider than the page. What is open stays open meanwhile. */
export async function expectAccessible(page: Page): Promise<void> {
  // A section comes when its code is there.
  await page.locator("h1").first().waitFor({ state: "attached" });
  await loadAxe(page);
  const found: string[] = [];
  for (const [colorScheme, size] of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(size);
    await page.evaluate(untilDrawn);
    const { headings, moving, overflowPx } = await page.evaluate<{ headings: number; moving: number; overflowPx: number }>(shape);
    const violations = await violationsIn(page);
    if (moving > 0) violations.push(`${moving} animations, though less motion is asked for`);
    if (headings !== 1) violations.push(`${headings} main headings`);
    if (overflowPx > 0) violations.push(`${overflowPx} px wider than the page`);
    found.push(...violations.map((violation) => `${colorScheme} ${size.width}: ${violation}`));
  }
  await page.setViewportSize(wide);
  expect(found, page.url()).toEqual([]);
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Loads axe into each frame, where it stays for the next look: loading it takes longer than a look. */
async function loadAxe(page: Page): Promise<void> {
  for (const frame of page.frames()) if (!(await frame.evaluate<boolean>(`"axe" in window`))) await frame.evaluate(axeSource);
}

async function violationsIn(page: Page): Promise<string[]> {
  const violations = await page.evaluate<Violation[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" ")}`);
}
