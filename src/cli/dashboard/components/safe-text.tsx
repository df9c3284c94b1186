import { Text } from "ink";
import type { ComponentProps } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

type Props = Omit<ComponentProps<typeof Text>, "children"> & {
  /** From wherever it comes: what a terminal would obey is written out. */
  readonly children: string | readonly string[];
};

/** Text on one line, cut where the room ends. Screens show text by this and by `List`, never by Ink's own `Text`. */
export function SafeText({ children, ...props }: Props) {
  return (
    <Text wrap="truncate-end" {...props}>
      {sanitizeForTerminal(typeof children === "string" ? children : children.join(""))}
    </Text>
  );
}
