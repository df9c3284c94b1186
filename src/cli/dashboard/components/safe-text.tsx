import { Text } from "ink";
import type { ComponentProps } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

type Props = Omit<ComponentProps<typeof Text>, "children"> & {
  /** Text from any source. The component escapes control characters. */
  readonly children: string | readonly string[];
};

/** Shows text on one line, truncated and without control characters. Screens must use this component or `List` instead of Ink's `Text`. */
export function SafeText({ children, ...props }: Props) {
  return (
    <Text wrap="truncate-end" {...props}>
      {sanitizeForTerminal(typeof children === "string" ? children : children.join(""))}
    </Text>
  );
}
