import { useState } from "react";
import { pastedText } from "../pasted-key.js";
import { useKeyScope } from "./use-key-scope.js";

interface Options {
  readonly isActive?: boolean;
  readonly initial?: string;
  readonly onChange?: (text: string) => void;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
  /** The text after more was typed or pasted at its end; joined when nothing is said. */
  readonly afterTyping?: (before: string, typed: string) => string;
  /** Keys beyond the usual ones; true when used up. Gets the text as it is. */
  readonly onKey?: (key: string, text: string, setText: (text: string) => void) => boolean;
}

/** A line of text that is being typed: every key goes to it until enter or esc. */
export function useTextInput({
  isActive = true,
  initial = "",
  onChange,
  onSubmit,
  onCancel,
  afterTyping = joined,
  onKey,
}: Options): string {
  const [text, setText] = useState(initial);
  const change = (next: string) => {
    setText(next);
    onChange?.(next);
  };
  const takeKey = (key: string): boolean => {
    if (onKey?.(key, text, change)) return true;
    if (key === "enter") onSubmit(text);
    else if (key === "esc") onCancel();
    else if (key === "backspace") change(Array.from(text).slice(0, -1).join(""));
    else if (key === "ctrl-u") change("");
    else if (key === "ctrl-w") change(text.replace(/\S+\s*$/, ""));
    else if (key === "space") change(`${text} `);
    else if (Array.from(key).length === 1) change(afterTyping(text, key));
    else change(afterTyping(text, pastedText(key) ?? ""));
    return true;
  };
  useKeyScope(isActive ? { handlers: {}, isModal: true, takeKey } : { handlers: {} });
  return text;
}

function joined(before: string, typed: string): string {
  return before + typed;
}
