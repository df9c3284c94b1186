import { Observable } from "../live/observable.js";

export interface Route {
  /** Decoded path segments after the base path of the panel: `apps`, `@team`, `shop`. */
  readonly segments: readonly string[];
  readonly search: URLSearchParams;
  /** Number of navigations since the user opened the panel. 0 for the first page. */
  readonly visit: number;
}

/** The part of `window` that a router uses. */
export interface BrowserHistory {
  readonly location: Pick<Location, "pathname" | "search">;
  readonly history: Pick<History, "state" | "pushState" | "replaceState">;
  readonly addEventListener: (type: "popstate", listener: () => void) => void;
}

const landing = "overview";

/**
 * Represents the current page. Reads and changes the page through the URL in the address bar. Paths are relative to the panel: `keys`,
 * `apps/shop?tab=files`.
 */
export class Router {
  readonly route: Observable<Route>;
  readonly #panelPath: string;
  readonly #browser: BrowserHistory;
  #shownUrl = "";
  readonly #guards = new Set<() => boolean>();

  constructor(panelPath: string, browser: BrowserHistory) {
    this.#panelPath = panelPath;
    this.#browser = browser;
    const { location } = browser;
    if (location.pathname === panelPath || location.pathname === panelPath.slice(0, -1)) this.#replaceUrl(landing);
    this.route = new Observable(this.#read(0));
    browser.addEventListener("popstate", () => this.#goBack());
  }

  /** Returns the `href` value for a link to a page of the panel. */
  href(path: string): string {
    return this.#panelPath + path;
  }

  go(path: string): void {
    if (this.#isHeld()) return;
    const { history } = this.#browser;
    history.pushState(history.state, "", this.href(path));
    this.#show();
  }

  /** Replaces the query of the current URL, such as after a change of a filter. Adds no history entry and keeps the focus. */
  setSearch(search: URLSearchParams): void {
    const { history, location } = this.#browser;
    const query = search.toString();
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`));
    this.route.set(this.#read(this.route.get().visit));
  }

  /**
   * Adds a check that runs before the user leaves the current page. If the check returns false, the page stays open. Returns a function
   * that removes the check.
   */
  guard(mayLeave: () => boolean): () => void {
    this.#guards.add(mayLeave);
    return () => this.#guards.delete(mayLeave);
  }

  #isHeld(): boolean {
    return [...this.#guards].some((mayLeave) => !mayLeave());
  }

  /** Handles the browser's back and forward buttons. Restores the URL of the current page if a check forbids leaving the page. */
  #goBack(): void {
    const { history } = this.#browser;
    if (this.#isHeld()) history.pushState(history.state, "", this.#shownUrl);
    else this.#show();
  }

  #show(): void {
    this.route.set(this.#read(this.route.get().visit + 1));
  }

  #replaceUrl(path: string): void {
    const { history, location } = this.#browser;
    history.replaceState(history.state, "", this.href(path) + location.search);
  }

  #read(visit: number): Route {
    const { location } = this.#browser;
    this.#shownUrl = location.pathname + location.search;
    const below = location.pathname.startsWith(this.#panelPath) ? location.pathname.slice(this.#panelPath.length) : "";
    const segments = below.split("/").filter((segment) => segment !== "");
    return { segments: segments.map(decoded), search: new URLSearchParams(location.search), visit };
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
