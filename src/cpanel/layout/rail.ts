import { Observable } from "../live/observable.js";

/** Name under which the browser stores whether the navigation is collapsed. */
const storedName = "cpanel.rail";
const collapsed = "collapsed";

/** Whether the navigation at the left shows icons only. The browser keeps the user's choice. */
export class Rail {
  readonly isCollapsed: Observable<boolean>;
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.#storage = storage;
    this.isCollapsed = new Observable(this.#stored() === collapsed);
  }

  toggle(): void {
    const isCollapsed = !this.isCollapsed.get();
    this.isCollapsed.set(isCollapsed);
    try {
      if (isCollapsed) this.#storage.setItem(storedName, collapsed);
      else this.#storage.removeItem(storedName);
    } catch {
      // If the browser has no storage, the choice applies until the user closes the page.
    }
  }

  #stored(): string | null {
    try {
      return this.#storage.getItem(storedName);
    } catch {
      return null;
    }
  }
}
