import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { scenarios, type ScenarioDaemon } from "../../support/incident-scenarios.js";
import { PanelBrowser, signIn, wide } from "./panel-browser.js";

vi.setConfig({ testTimeout: 90_000 });

let browser: PanelBrowser;

beforeAll(async () => {
  browser = await PanelBrowser.open();
});
afterAll(async () => {
  await browser?.close();
  expect(browser.complaints).toEqual([]);
});

interface Remedy {
  /** Number of clicks on the Overview, including those on other pages and dialogs, until `isDone`. */
  readonly clicks: number;
  readonly act: (page: Page) => Promise<void>;
  readonly isDone: (page: Page, daemon: ScenarioDaemon) => Promise<void>;
}

const remedies: Readonly<Record<keyof typeof scenarios, Remedy>> = {
  "returns only 500s": rollback("orders"),
  "cannot start": rollback("billing"),
  "became slow with the last deploy": rollback("search"),
  "has a failing cron job": rollback("report"),
  "has a full disk": {
    clicks: 1,
    act: (page) => page.getByRole("link", { name: "Open settings of the daemon" }).click(),
    isDone: async (page) => {
      const state = page.getByRole("table", { name: "Directories" }).getByRole("row", { name: "state" });
      await state.getByText(/[\d.]+ k?B of 24\.0 MB \(0 %\)/).waitFor();
      const { y = Infinity } = (await state.boundingBox()) ?? {};
      expect(y).toBeLessThan(wide.height);
    },
  },
  "has a plugin with a typo": {
    clicks: 1,
    act: (page) => page.getByRole("button", { name: "Disable lamp" }).click(),
    isDone: (page) => page.getByText("lamp is off.").waitFor(),
  },
  "has a key that expires soon": {
    clicks: 2,
    act: async (page) => {
      await page.getByRole("button", { name: "Rotate ci" }).click();
      await page.getByRole("dialog", { name: "Rotate ci" }).getByRole("button", { name: "Rotate key" }).click();
    },
    isDone: async (page, { daemon }) => {
      const key = await page.getByRole("alertdialog", { name: "The key ci" }).getByLabel("Secret").inputValue();
      expect((await fetch(`${daemon.url}/api/workers`, { headers: { "x-api-key": key } })).status).toBe(200);
    },
  },
};

function rollback(name: string): Remedy {
  return {
    clicks: 1,
    act: async (page) => {
      await incidentOf(page, name)
        .getByText(/^since 1\.1\.0, deployed (?:just now|\d min ago) by root$/)
        .waitFor();
      await page.getByRole("button", { name: `Roll back to 1.0.0: ${name}` }).click();
    },
    isDone: async (page, { daemon }) => {
      await page.getByText(`${name} 1.0.0 is active. 1.1.0 is disabled.`).waitFor();
      expect(await (await fetch(`${daemon.url}/${name}/`)).text()).toBe("works");
      await expect.poll(() => incidentOf(page, name).count()).toBe(0);
    },
  };
}

const incidentOf = (page: Page, subject: string) =>
  page.getByRole("region", { name: "Needs attention" }).getByRole("listitem").filter({ hasText: subject });

test.each(Object.keys(scenarios) as (keyof typeof scenarios)[])(
  "shows the cause at once and the remedy within 2 clicks when something %s",
  async (name) => {
    const { subject, cause, open } = scenarios[name];
    const { clicks, act, isDone } = remedies[name];
    const scenario = await open();
    const page = await browser.page(`${scenario.daemon.url}/cpanel/overview`);
    // A page without a daemon logs lines in the console.
    onTestFinished(async () => {
      await page.close();
      await scenario.daemon.dispose();
    });
    await signIn(page, scenario.daemon.rootKey);
    await page.evaluate("globalThis.clicks = 0; addEventListener('pointerdown', () => (globalThis.clicks += 1), true);");
    await incidentOf(page, subject).getByText(cause).first().waitFor();
    expect(clicks).toBeLessThanOrEqual(2);
    await act(page);
    await isDone(page, scenario);
    expect(await page.evaluate("clicks")).toBe(clicks);
  },
);
