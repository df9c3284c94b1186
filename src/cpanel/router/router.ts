import { Observable } from "../live/observable.js";

export interface Route {
  /** Segments below the panel, decoded: `apps`, `@team`, `shop`. */
  readonly segments: readonly string[];
  readonly search: URLSearchParams;
  /** Number of the navigations so far; 0 = the page was opened here. */
  readonly visit: number;
}

/** The part of `window` that a router reads and changes. */
export interface BrowserHistory {
  readonly location: Pick<Location, "pathname" | "search">;
  readonly history: Pick<History, "state" | "pushState" | "replaceState">;
  readonly addEventListener: (type: "popstate", listener: () => void) => void;
}

const landing = "overview";

/** Which page of the panel is shown; kept in the browser's history. A path of the panel is relative: `keys`, `apps/shop?tab=files`. */
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

  /** The address of a page, for links. */
  href(path: string): string {
    return this.#panelPath + path;
  }

  go(path: string): void {
    if (this.#isHeld()) return;
    const { history } = this.#browser;
    history.pushState(history.state, "", this.href(path));
    this.#show();
  }

  /** Another query of the same page, such as that of a filter: no step of the history, and the focus stays. */
  setSearch(search: URLSearchParams): void {
    const { history, location } = this.#browser;
    const query = search.toString();
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`));
    this.route.set(this.#read(this.route.get().visit));
  }

  /** Asked before a page is left, by a link or the browser's buttons; false keeps it. Returns the way to stop being asked. */
  guard(mayLeave: () => boolean): () => void {
    this.#guards.add(mayLeave);
    return () => this.#guards.delete(mayLeave);
  }

  #isHeld(): boolean {
    return [...this.#guards].some((mayLeave) => !mayLeave());
  }

  /** The browser has gone back already: a page that may not be left is put on top again. */
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
