import { describe, expect, test, vi } from "vitest";
import { panelPathsOf } from "../../../src/cpanel/router/panel-paths.js";
import { Router } from "../../../src/cpanel/router/router.js";

/** A browser's history, as far as a router uses it. */
class FakeBrowser {
  readonly entries: URL[];
  index = 0;
  #onPopState = () => {};

  constructor(url: string) {
    this.entries = [new URL(url)];
  }

  get location(): URL {
    return this.entries[this.index] as URL;
  }

  readonly history = {
    state: null,
    pushState: (_state: unknown, _title: string, url?: string | URL | null) => {
      this.entries.splice(this.index + 1, Infinity, new URL(String(url), this.location));
      this.index += 1;
    },
    replaceState: (_state: unknown, _title: string, url?: string | URL | null) => {
      this.entries[this.index] = new URL(String(url), this.location);
    },
  };

  readonly addEventListener = (_type: "popstate", listener: () => void) => {
    this.#onPopState = listener;
  };

  back(): void {
    this.index -= 1;
    this.#onPopState();
  }
}

function open(path: string, panelPath = "/cpanel/") {
  const browser = new FakeBrowser(`http://daemon.test${path}`);
  return { browser, router: new Router(panelPath, browser) };
}

describe("panelPathsOf", () => {
  test.each([
    ["http://daemon.test/cpanel/", "/cpanel/", ""],
    ["https://example.test/x/cpanel/", "/x/cpanel/", "/x"],
    ["https://example.test/x/y/cpanel/index.html", "/x/y/cpanel/", "/x/y"],
  ])("finds the paths of panel and daemon in the base URL %s", (baseUrl, panelPath, daemonPath) => {
    expect(panelPathsOf(baseUrl)).toEqual({ panelPath, daemonPath });
  });
});

describe("Router", () => {
  test.each(["/cpanel/", "/cpanel"])("redirects the path %s to the overview, and keeps the query", (path) => {
    const { browser, router } = open(`${path}?theme=dark`);
    expect(browser.location.href).toBe("http://daemon.test/cpanel/overview?theme=dark");
    expect(router.route.get()).toMatchObject({ segments: ["overview"], visit: 0 });
    expect(browser.entries).toHaveLength(1);
  });

  test("decodes the path segments below the panel's base path", () => {
    const { router } = open("/x/cpanel/apps/%40team/shop%20one?tab=files", "/x/cpanel/");
    expect(router.route.get().segments).toEqual(["apps", "@team", "shop one"]);
    expect(router.route.get().search.get("tab")).toBe("files");
    expect(router.href("keys")).toBe("/x/cpanel/keys");
  });

  test("returns a segment with invalid percent-encoding unchanged", () => {
    expect(open("/cpanel/apps/100%").router.route.get().segments).toEqual(["apps", "100%"]);
  });

  test("adds a history entry for each navigation and counts the navigations", () => {
    const { browser, router } = open("/cpanel/overview");
    const onChange = vi.fn<() => void>();
    router.route.subscribe(onChange);
    router.go("apps/shop?tab=files");
    expect(browser.location.href).toBe("http://daemon.test/cpanel/apps/shop?tab=files");
    expect(router.route.get()).toMatchObject({ segments: ["apps", "shop"], visit: 1 });
    browser.back();
    expect(router.route.get()).toMatchObject({ segments: ["overview"], visit: 2 });
    expect(onChange).toHaveBeenCalledTimes(2);
  });

  test("changes the query without a new history entry or a counted navigation", () => {
    const { browser, router } = open("/cpanel/apps");
    router.setSearch(new URLSearchParams({ search: "shop" }));
    expect(browser.location.href).toBe("http://daemon.test/cpanel/apps?search=shop");
    expect(browser.entries).toHaveLength(1);
    expect(router.route.get().visit).toBe(0);
    router.setSearch(new URLSearchParams());
    expect(browser.location.href).toBe("http://daemon.test/cpanel/apps");
  });

  test("stays on the page while a guard rejects links and the back button", () => {
    const { browser, router } = open("/cpanel/overview");
    router.go("apps/shop?path=a&file=b");
    const release = router.guard(() => false);
    router.go("keys");
    expect(router.route.get().segments).toEqual(["apps", "shop"]);
    browser.back();
    expect(router.route.get().segments).toEqual(["apps", "shop"]);
    expect(browser.location.href).toBe("http://daemon.test/cpanel/apps/shop?path=a&file=b");
    release();
    router.go("keys");
    expect(router.route.get().segments).toEqual(["keys"]);
  });

  test("leaves the page only if every guard permits the navigation", () => {
    const { router } = open("/cpanel/overview");
    const answers = [true, false];
    for (const [index] of answers.entries()) router.guard(() => answers[index] ?? true);
    router.go("keys");
    expect(router.route.get().segments).toEqual(["overview"]);
    answers[1] = true;
    router.go("keys");
    expect(router.route.get().segments).toEqual(["keys"]);
  });
});
