import { emitKeypressEvents, type Key } from "node:readline";
import type { KeySource } from "../dashboard-host.js";

const names: Readonly<Record<string, string>> = {
  return: "enter",
  enter: "enter",
  escape: "esc",
  backspace: "backspace",
  // What many keyboards send for the key above enter.
  delete: "backspace",
  space: "space",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  pageup: "pgup",
  pagedown: "pgdn",
  home: "home",
  end: "end",
};

/** Characters; what is typed into are lines. */
const longestPaste = 10_000;

const prefix = "pasted:";

/** The keys that are pressed, by their names in the keymap. Text that the terminal says is pasted is one key, which means nothing but to what is typed into. */
export class Keyboard {
  readonly #stdin: KeySource;
  /** What was pasted so far; undefined while nothing is. */
  #pasted: string | undefined;
  readonly #listeners = new Set<(key: string) => void>();
  readonly #onKeypress = (text: string | undefined, key: Key): void => {
    for (const name of this.#names(text, key)) for (const listener of this.#listeners) listener(name);
  };

  /** `onGone` is called when no key will come any more: the window was closed, or the line was cut. */
  constructor(stdin: KeySource, onGone: () => void) {
    this.#stdin = stdin;
    emitKeypressEvents(stdin);
    for (const event of ["end", "close", "error"] as const) stdin.on(event, onGone);
  }

  /** Takes every key from now on; the terminal makes no signals of them. */
  start(): void {
    this.#stdin.setRawMode(true);
    this.#stdin.on("keypress", this.#onKeypress);
    this.#stdin.resume();
  }

  stop(): void {
    this.#stdin.off("keypress", this.#onKeypress);
    this.#stdin.pause();
    this.#stdin.setRawMode(false);
  }

  #names(text: string | undefined, key: Key): readonly string[] {
    if (key.name === "paste-start") this.#pasted = "";
    else if (key.name === "paste-end") {
      const pasted = this.#pasted ?? "";
      this.#pasted = undefined;
      return [pastedKey(pasted)];
      // A terminal takes control characters out of what it pastes: somebody pressed it.
    } else if (this.#pasted === undefined || (key.ctrl && key.name === "c")) return keyNames(text, key);
    else if (this.#pasted.length < longestPaste) this.#pasted += key.sequence ?? "";
    return [];
  }

  readonly subscribe = (listener: (key: string) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

function keyNames(text: string | undefined, { name = "", ctrl, meta, shift, sequence = "" }: Key): readonly string[] {
  if (ctrl) return [`ctrl-${name}`];
  if (name === "tab") return [shift ? "shift-tab" : "tab"];
  const escapes = escapesBefore(sequence);
  const known = names[name] ?? (text === undefined || text === "" ? lastCharacter(sequence) : text);
  if (known === undefined || name === "escape") return escapes;
  // Alt has no meaning here, and over a slow line `esc` and the key after it arrive as one.
  return meta ? [...escapes, known] : [known];
}

/** An `esc` for each that stands before what a terminal sends for a key; nothing before one that has no name. */
function escapesBefore(sequence: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  const [, escapes = ""] = /^(\u001b*)(?:\u001b[[O]|[^\u001b[O]|$)/u.exec(sequence) ?? [];
  return Array.from(escapes, () => "esc");
}

/** The character of `esc` and a character; nothing of what a terminal sends for a key that has no name. */
function lastCharacter(sequence: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  return /^\u001b*([^\u001b[O])$/u.exec(sequence)?.[1];
}

/** The name of the key that pasted text is: none that a keymap knows. */
function pastedKey(text: string): string {
  return prefix + text;
}

/** The text of such a key on one line, without what a line cannot hold; undefined for other keys. */
export function pastedText(key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const line = key.slice(prefix.length).trim().replace(/\s+/g, " ");
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return line.replace(/[\u0000-\u001f\u007f]/g, "");
}
