import { emitKeypressEvents, type Key } from "node:readline";
import type { KeySource } from "../dashboard-host.js";

const names: Readonly<Record<string, string>> = {
  return: "enter",
  enter: "enter",
  escape: "esc",
  backspace: "backspace",
  // Treats `delete` as backspace, because many terminals send `delete` for the backspace key.
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

/** Maximum length of pasted text in characters, which limits memory. The text after this length is dropped. */
const longestPaste = 10_000;

const prefix = "pasted:";

/**
 * Emits the name of each pressed key, in the notation of the keymap. A paste (bracketed paste) is emitted as a single key, which only text
 * inputs handle.
 */
export class Keyboard {
  readonly #stdin: KeySource;
  /** The pasted text received so far. Undefined outside of a paste. */
  #pasted: string | undefined;
  readonly #listeners = new Set<(key: string) => void>();
  readonly #onKeypress = (text: string | undefined, key: Key): void => {
    for (const name of this.#names(text, key)) for (const listener of this.#listeners) listener(name);
  };

  /** Calls `onGone` when the input ends, because the user closed the terminal window or the SSH connection was lost. */
  constructor(stdin: KeySource, onGone: () => void) {
    this.#stdin = stdin;
    emitKeypressEvents(stdin);
    for (const event of ["end", "close", "error"] as const) stdin.on(event, onGone);
  }

  /** Starts raw mode, in which the dashboard receives every key. In raw mode, the terminal sends no signals for ctrl-c and ctrl-z. */
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
      // A ctrl-c within a paste is a key press of the user, because terminals remove control characters from pasted text.
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
  // Emits a key with alt as two keys: `esc` and the key. On a slow connection, `esc` and a later key can arrive together and look like a
  // key with alt. The dashboard has no shortcuts with alt.
  return meta ? [...escapes, known] : [known];
}

/** Returns one `esc` for each escape character at the start of a key sequence. */
function escapesBefore(sequence: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  const [, escapes = ""] = /^(\u001b*)(?:\u001b[[O]|[^\u001b[O]|$)/u.exec(sequence) ?? [];
  return Array.from(escapes, () => "esc");
}

/** Returns the character after an escape character. Undefined if the sequence belongs to an unknown key. */
function lastCharacter(sequence: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- terminals send keys as escape sequences
  return /^\u001b*([^\u001b[O])$/u.exec(sequence)?.[1];
}

/** Returns a key name that contains the pasted text. The keymap contains no such key name. */
function pastedKey(text: string): string {
  return prefix + text;
}

/** Returns the pasted text that a key name contains, as one line without control characters. Undefined for any other key name. */
export function pastedText(key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const line = key.slice(prefix.length).trim().replace(/\s+/g, " ");
  // oxlint-disable-next-line no-control-regex -- matches control characters to remove them
  return line.replace(/[\u0000-\u001f\u007f]/g, "");
}
