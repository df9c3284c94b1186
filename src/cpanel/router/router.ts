import { Observable } from "../live/observable.js";

export interface Route {
  /** Segments below the panel, decoded: `apps`, `@team`, `shop`. */
  readonly segments: readonly string[];
  readonly search: URLSearchParams;
  /** Number of navigations; 0: the page was opened directly. */
  readonly visit: number;
}

/** The part of `window` that a router uses. */
export interface BrowserHistory {
  readonly location: Pick<Location, "pathname" | "search">;
  readonly history: Pick<History, "state" | "pushState" | "replaceState">;
  readonly addEventListener: (type: "popstate", listener: () => void) => void;
}

const landing = "overview";

/** The current page of the panel, stored in the browser's history. Paths are relative to the panel: `keys`, `apps/shop?tab=files`. */
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

  /** Returns the address of a page, for links. */
  href(path: string): string {
    return this.#panelPath + path;
  }

  go(path: string): void {
    if (this.#isHeld()) return;
    const { history } = this.#browser;
    history.pushState(history.state, "", this.href(path));
    this.#show();
  }

  /** Changes the query of the page, such as for a filter, without a history entry; the focus stays. */
  setSearch(search: URLSearchParams): void {
    const { history, location } = this.#browser;
    const query = search.toString();
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`));
    this.route.set(this.#read(this.route.get().visit));
  }

  /** Adds a check before the page is left; false keeps the page. Returns a function that removes the check. */
  guard(mayLeave: () => boolean): () => void {
    this.#guards.add(mayLeave);
    return () => this.#guards.delete(mayLeave);
  }

  #isHeld(): boolean {
    return [...this.#guards].some((mayLeave) => !mayLeave());
  }

  /** Runs after the browser went back. Restores the page if it must not be left. */
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
