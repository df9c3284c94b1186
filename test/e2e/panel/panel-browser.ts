import type { Browser, BrowserContext, Page } from "playwright-core";
import { openBrowser } from "../../support/open-browser.js";

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 360, height: 740 };

/** What a page did that no page of the panel may do. */
interface Complaint {
  readonly page: string;
  readonly text: string;
}

/** A browser whose pages are watched: console errors, requests to other hosts, reports of the content security policy. */
export class PanelBrowser {
  readonly #browser: Browser;
  readonly #complaints: Complaint[] = [];

  static async open(): Promise<PanelBrowser> {
    return new PanelBrowser(await openBrowser());
  }

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A page of its own, with cookies of its own, at a path of the daemon. `answers` of these statuses are what the test is about. */
  async page(url: string, options: { expectedStatuses?: readonly number[]; isNarrow?: boolean; isDark?: boolean } = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: options.isNarrow ? narrow : wide,
      colorScheme: options.isDark ? "dark" : "light",
      reducedMotion: "reduce",
    });
    await this.#watch(context, new URL(url).origin, options.expectedStatuses ?? []);
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  /** Everything that pages did wrong so far; the caller expects it to be empty. */
  get complaints(): readonly Complaint[] {
    return this.#complaints;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  async #watch(context: BrowserContext, origin: string, expectedStatuses: readonly number[]): Promise<void> {
    const complain = (page: string, text: string) => this.#complaints.push({ page, text });
    await context.exposeFunction("complainOfPolicy", (text: string) => complain("policy", text));
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", (event) => complainOfPolicy(event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
    );
    // A browser writes a line for every answer above 399 by itself.
    const isExpected = (text: string) =>
      expectedStatuses.some((status) => text.includes(`the server responded with a status of ${status}`));
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !isExpected(message.text()))
        complain(message.page()?.url() ?? "", message.text());
    });
    context.on("weberror", (error) => complain(error.page()?.url() ?? "", String(error.error())));
    context.on("request", (request) => {
      if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) complain("request", request.url());
    });
  }
}

/** Signs in at the gate and waits for the shell. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
}
