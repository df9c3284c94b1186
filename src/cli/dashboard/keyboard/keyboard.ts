import { emitKeypressEvents, type Key } from "node:readline";
import type { KeySource } from "../dashboard-host.js";

const names: Readonly<Record<string, string>> = {
  return: "enter",
  enter: "enter",
  escape: "esc",
  backspace: "backspace",
  // Treats `delete` as backspace, because many terminals send `delete` when the user presses backspace.
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

/** Maximum length of pasted text in characters, which limits memory. Further text is dropped. */
const longestPaste = 10_000;

const prefix = "pasted:";

/** Emits the names of pressed keys, as in the keymap. Pasted text (bracketed paste) is emitted as one key that only text inputs handle. */
export class Keyboard {
  readonly #stdin: KeySource;
  /** The pasted text received so far. Undefined outside of a paste. */
  #pasted: string | undefined;
  readonly #listeners = new Set<(key: string) => void>();
  readonly #onKeypress = (text: string | undefined, key: Key): void => {
    for (const name of this.#names(text, key)) for (const listener of this.#listeners) listener(name);
  };

  /** Calls `onGone` when the input ends, because the terminal window was closed or the SSH connection was lost. */
  constructor(stdin: KeySource, onGone: () => void) {
    this.#stdin = stdin;
    emitKeypressEvents(stdin);
    for (const event of ["end", "close", "error"] as const) stdin.on(event, onGone);
  }

  /** Starts raw mode, in which the dashboard receives every key. The terminal then sends no signals for ctrl-c and ctrl-z. */
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
      // Pasted text cannot contain ctrl-c, because terminals remove control characters from it. So the user pressed ctrl-c.
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
  // Keys with alt are treated as `esc` and the key, because both arrive together on a slow connection. Alt has no function in the
  // dashboard.
  return meta ? [...escapes, known] : [known];
}

/** Returns one `esc` for each escape character before a key sequence. */
function escapesBefore(sequence: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  const [, escapes = ""] = /^(\u001b*)(?:\u001b[[O]|[^\u001b[O]|$)/u.exec(sequence) ?? [];
  return Array.from(escapes, () => "esc");
}

/** Returns the character after an escape character. Undefined for the sequence of an unknown key. */
function lastCharacter(sequence: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  return /^\u001b*([^\u001b[O])$/u.exec(sequence)?.[1];
}

/** Returns a key name for pasted text. No keymap can contain this name. */
function pastedKey(text: string): string {
  return prefix + text;
}

/** Returns the pasted text in a key name, as one line without control characters. Undefined for other keys. */
export function pastedText(key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const line = key.slice(prefix.length).trim().replace(/\s+/g, " ");
  // oxlint-disable-next-line no-control-regex -- matches control characters to remove them
  return line.replace(/[\u0000-\u001f\u007f]/g, "");
}
