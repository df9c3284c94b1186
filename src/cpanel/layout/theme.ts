import { Observable } from "../live/observable.js";

export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

/** Name under which the browser stores the theme. */
const storedName = "cpanel.theme";

/** The light or dark theme of the panel. The user's choice overrides the setting of the operating system. */
export class Theme {
  readonly choice: Observable<ThemeChoice>;
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly #root: Pick<HTMLElement, "dataset">;

  /** `root` is the element with the `data-theme` attribute, from which the style sheets read the theme. */
  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">, root: Pick<HTMLElement, "dataset">) {
    this.#storage = storage;
    this.#root = root;
    this.choice = new Observable<ThemeChoice>(themeChoices.find((choice) => choice === this.#stored()) ?? "system");
    this.#apply();
  }

  choose(choice: ThemeChoice): void {
    this.choice.set(choice);
    this.#apply();
    try {
      if (choice === "system") this.#storage.removeItem(storedName);
      else this.#storage.setItem(storedName, choice);
    } catch {
      // Ignores the error. In a browser without storage, the selected theme applies until the user closes the page.
    }
  }

  #stored(): string | null {
    try {
      return this.#storage.getItem(storedName);
    } catch {
      return null;
    }
  }

  #apply(): void {
    const choice = this.choice.get();
    if (choice === "system") delete this.#root.dataset["theme"];
    else this.#root.dataset["theme"] = choice;
  }
}
