import { Text } from "ink";
import type { ComponentProps } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

type Props = Omit<ComponentProps<typeof Text>, "children"> & {
  /** Text that can contain control characters, which the component escapes. */
  readonly children: string | readonly string[];
};

/**
 * Shows text on one line, truncated and with control characters escaped. Screens must not use Ink's `Text` directly, but this component or
 * `List`.
 */
export function SafeText({ children, ...props }: Props) {
  return (
    <Text wrap="truncate-end" {...props}>
      {sanitizeForTerminal(typeof children === "string" ? children : children.join(""))}
    </Text>
  );
}
