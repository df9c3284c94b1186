import { Box, Text } from "ink";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { useSize } from "../terminal/terminal-size.js";
import { wrapped } from "../terminal/wrapped.js";
import { Rule } from "./rule.js";
import { SafeText } from "./safe-text.js";

export interface Fact {
  readonly name: string;
  /** Value of the property. Unless `isLong` is set, the value is on one line and truncated to the available width. */
  readonly value: string;
  readonly color?: string | undefined;
  /** Whether the value wraps to several lines instead of being truncated. */
  readonly isLong?: boolean;
}

interface Props {
  readonly title?: string;
  readonly facts: readonly Fact[];
  readonly isStale?: boolean;
}

/** Returns the number of lines of a title. A title wraps instead of being truncated, because lists truncate long names. */
export function titleRows(title: string, columns: number): number {
  return wrapped(title, columns).length;
}

/** Shows the properties of the selected item, one per line. */
export function Detail({ title, facts, isStale = false }: Props) {
  const { columns, rows } = useSize();
  const titleLines = title === undefined ? [] : wrapped(title, columns);
  const nameWidth = Math.max(0, ...facts.map(({ name }) => name.length)) + 2;
  return (
    <Box flexDirection="column" flexGrow={1}>
      {titleLines.length === 1 && titleLines[0] !== undefined ? (
        <Rule title={titleLines[0]} columns={columns} />
      ) : (
        titleLines.map((line) => (
          <SafeText key={line} bold>
            {line}
          </SafeText>
        ))
      )}
      {facts.slice(0, Math.max(0, rows - titleLines.length)).map(({ name, value, color, isLong = false }) => (
        <Box key={`${name} ${value}`} flexShrink={0}>
          <Box width={nameWidth} flexShrink={0}>
            <Text dimColor>{name}</Text>
          </Box>
          <Text wrap={isLong ? "wrap" : "truncate-end"} dimColor={isStale} {...(color === undefined ? {} : { color })}>
            {sanitizeForTerminal(value)}
          </Text>
        </Box>
      ))}
    </Box>
  );
}
