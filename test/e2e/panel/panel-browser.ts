import type { Browser, BrowserContext, Page } from "playwright-core";
import { openBrowser } from "../../support/open-browser.js";

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 360, height: 740 };

/** A violation of the rules that all pages of the panel must follow. */
interface Complaint {
  readonly page: string;
  readonly text: string;
}

/** A console line that a test provokes: by status, since a browser logs a line for every response above 399, or by its text. */
export type Provoked = number | RegExp;

/** A browser whose pages are checked for console errors, requests to other hosts and violations of the content security policy. */
export class PanelBrowser {
  readonly #browser: Browser;
  readonly #complaints: Complaint[] = [];
  readonly #provoked: { readonly page: string; readonly line: Provoked; hasCome: boolean }[] = [];

  static async open(): Promise<PanelBrowser> {
    return new PanelBrowser(await openBrowser());
  }

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Opens a page with a cookie store of its own. Each line of `provoked` must appear in the console. */
  async page(url: string, options: { provoked?: readonly Provoked[]; isNarrow?: boolean; isDark?: boolean } = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: options.isNarrow ? narrow : wide,
      colorScheme: options.isDark ? "dark" : "light",
      reducedMotion: "reduce",
    });
    await this.#watch(context, url, options.provoked ?? []);
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  /** Returns the violations so far and the provoked lines that have not appeared. The caller expects an empty list. */
  get complaints(): readonly Complaint[] {
    const missing = this.#provoked.filter(({ hasCome }) => !hasCome);
    return [...this.#complaints, ...missing.map(({ page, line }) => ({ page, text: `provoked, and never came: ${line}` }))];
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  async #watch(context: BrowserContext, url: string, lines: readonly Provoked[]): Promise<void> {
    const { origin } = new URL(url);
    const provoked = lines.map((line) => ({ page: url, line, hasCome: false }));
    this.#provoked.push(...provoked);
    const complain = (page: string, text: string) => this.#complaints.push({ page, text });
    await context.exposeFunction("complainOfPolicy", (text: string) => complain("policy", text));
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", (event) => complainOfPolicy(event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
    );
    context.on("console", (message) => {
      if (!["error", "warning"].includes(message.type())) return;
      const found = provoked.find(({ line }) => isLine(message.text(), line));
      if (found) found.hasCome = true;
      else complain(message.page()?.url() ?? "", `${message.text()} ${message.location().url}`);
    });
    context.on("weberror", (error) => complain(error.page()?.url() ?? "", String(error.error())));
    context.on("request", (request) => {
      if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) complain("request", request.url());
    });
  }
}

function isLine(text: string, line: Provoked): boolean {
  return typeof line === "number" ? text.includes(`the server responded with a status of ${line}`) : line.test(text);
}

/** Opens the account menu, and signs out. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account / }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

/** Signs in and waits for the navigation. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
}
