import { Text } from "ink";
import stringWidth from "string-width";
import { fitted } from "../terminal/fitted.js";

interface Props {
  /** The heading at the start of the line. */
  readonly title: string;
  /** Text after the heading, such as a count. */
  readonly note?: string;
  /** Width of the whole line in terminal columns. */
  readonly columns: number;
  readonly color?: string | undefined;
}

/** Draws a horizontal line with a heading between two parts of a screen. */
export function Rule({ title, note = "", columns, color }: Props) {
  const room = Math.max(0, columns - 4);
  const heading = fitted(title, Math.min(room, stringWidth(title)));
  const shownNote = note === "" ? "" : fitted(`  ${note}`, Math.max(0, Math.min(room - stringWidth(heading), stringWidth(note) + 2)));
  return (
    <Text wrap="truncate-end">
      <Text dimColor>{"─ "}</Text>
      <Text bold {...(color === undefined ? {} : { color })}>
        {heading}
      </Text>
      <Text>{shownNote}</Text>
      <Text dimColor>{` ${"─".repeat(Math.max(0, room - stringWidth(heading) - stringWidth(shownNote) + 1))}`}</Text>
    </Text>
  );
}
