import type { Browser, Page } from "playwright-core";

/** Status 304 is allowed, because the browser already has the file after a reload. */
const successful: readonly number[] = [200, 304];

/** A page that notes each unsuccessful response and each error, and the number of responses. */
export async function openStrictPage(browser: Browser): Promise<{ page: Page; problems: string[]; count: () => number }> {
  const page = await browser.newPage();
  const problems: string[] = [];
  let count = 0;
  page.on("response", (response) => {
    count += 1;
    if (!successful.includes(response.status())) problems.push(`${response.status()} ${response.url()}`);
  });
  // Ignores canceled requests, because a page cancels its own prefetches when the user leaves the page.
  page.on("requestfailed", (request) => request.failure()?.errorText === "net::ERR_ABORTED" || problems.push(`failed ${request.url()}`));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  return { page, problems, count: () => count };
}
