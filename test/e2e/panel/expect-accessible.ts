import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { narrow, wide } from "./panel-browser.js";

/** Color schemes, sizes and forced colors, ordered so that each look differs little from the previous one. */
const looks = [
  ["light", wide, "active"],
  ["light", wide, "none"],
  ["dark", wide, "none"],
  ["dark", narrow, "none"],
  ["light", narrow, "none"],
  ["dark", narrow, "active"],
] as const;

/**
 * axe's default rules and the WCAG 2.2 AA rule that is disabled by default. The wait is long because axe skips a frame
 * that does not respond.
 */
const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } }, pingWaitTime: 20_000 };

/**
 * axe reads the color of a text from `-webkit-text-fill-color`, which no page sets, and for which Chromium returns the color before forced
 * colors. Can be removed when axe reads `color` instead.
 */
const axeProgram = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8").replaceAll(
  'getPropertyValue("-webkit-text-fill-color")',
  'getPropertyValue("color")',
);

/** Allows all origins, because the frame of a plugin has another origin than the panel. */
const axeSource = `${axeProgram}
axe.configure({ allowedOrigins: ["<unsafe_all_origins>"] });`;

/**
 * Resolves when the page has been drawn with the new color scheme or size, or after 1 s for a page in the background,
 * which draws nothing.
 */
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

/** Checks that axe does not make: one main heading, no animations, and no horizontal overflow. */
const shape = `({
  headings: document.querySelectorAll("h1").length,
  moving: document.getAnimations().length,
  overflowPx: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})`;

/** Expects no violation in any color scheme and size, with and without forced colors; keeps open dialogs open. */
export async function expectAccessible(page: Page): Promise<void> {
  // The code of a section is loaded on demand.
  await page.locator("h1").first().waitFor({ state: "attached" });
  await loadAxe(page);
  const found: string[] = [];
  for (const [colorScheme, size, forcedColors] of looks) {
    await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: "reduce" });
    await page.setViewportSize(size);
    await page.evaluate(untilDrawn);
    const { headings, moving, overflowPx } = await page.evaluate<{ headings: number; moving: number; overflowPx: number }>(shape);
    const violations = await violationsIn(page);
    if (moving > 0) violations.push(`${moving} animations, though less motion is asked for`);
    if (headings !== 1) violations.push(`${headings} main headings`);
    if (overflowPx > 0) violations.push(`${overflowPx} px wider than the page`);
    found.push(...violations.map((violation) => `${colorScheme} ${size.width}${forcedColors === "active" ? " forced" : ""}: ${violation}`));
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none", reducedMotion: "reduce" });
  await page.setViewportSize(wide);
  expect(found, page.url()).toEqual([]);
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Loads axe into each frame once, because loading it takes longer than a check. */
async function loadAxe(page: Page): Promise<void> {
  for (const frame of page.frames()) if (!(await frame.evaluate<boolean>(`"axe" in window`))) await frame.evaluate(axeSource);
}

async function violationsIn(page: Page): Promise<string[]> {
  const violations = await page.evaluate<Violation[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" ")}`);
}
