import { Box, Text } from "ink";
import { fitted } from "../terminal/fitted.js";
import { useSize } from "../terminal/terminal-size.js";
import { useState } from "react";
import { pastedText } from "../keyboard/keyboard.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";

interface Props {
  readonly label: string;
  readonly initial?: string;
  /** Whether the input hides the typed text. */
  readonly isSecret?: boolean;
  readonly onChange?: (text: string) => void;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
  readonly afterTyping?: (before: string, typed: string) => string;
  readonly onKey?: (key: string, text: string, setText: (text: string) => void) => boolean;
}

/** Shows a text input of one line. */
export function PromptLine({ label, isSecret = false, ...input }: Props) {
  const { columns } = useSize();
  const text = useTextInput(input);
  const room = Math.max(1, columns - label.length - 3);
  // If the text is longer than the line, shows only the end of the text.
  const shown = isSecret ? (text === "" ? "" : "(typed, hidden)") : text.slice(-room);
  return (
    <Box height={1} flexShrink={0}>
      <Text bold>{label} </Text>
      <Text>{fitted(shown, Math.min(room, shown.length))}</Text>
      <Text inverse> </Text>
    </Box>
  );
}

interface Options {
  readonly isActive?: boolean;
  readonly initial?: string;
  readonly onChange?: (text: string) => void;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
  /** Returns the new text of the input. `before` is the previous text. Default: appends the typed text to the previous text. */
  readonly afterTyping?: (before: string, typed: string) => string;
  /** Handles key presses other than typed text. Returns true if the function handled the key press. */
  readonly onKey?: (key: string, text: string, setText: (text: string) => void) => boolean;
}

/** Returns the text of an input. The input receives every key press until the user presses enter or esc. */
function useTextInput({ isActive = true, initial = "", onChange, onSubmit, onCancel, afterTyping = joined, onKey }: Options): string {
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
