import { Box, Text } from "ink";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useDashboard } from "../session/hooks.js";
import { fitted } from "../terminal/fitted.js";
import { useSize } from "../terminal/terminal-size.js";
import { wrapped, wrappedWords } from "../terminal/wrapped.js";
import { Rule } from "./rule.js";
import { SafeText } from "./safe-text.js";

export interface Fact {
  readonly name: string;
  /** Value of the property. If `mostLines` is not set, the value is on one line and truncated to the available width. */
  readonly value: string;
  readonly color?: string | undefined;
  /** Maximum number of lines to which the value wraps. A longer value ends with an ellipsis, and `enter` shows it completely. */
  readonly mostLines?: number;
}

interface Props {
  readonly title?: string;
  readonly facts: readonly Fact[];
  readonly isStale?: boolean;
  /** Maximum height in rows, including the title. Default: the available height. */
  readonly height?: number;
}

/**
 * Returns the number of lines that a title and facts need at this width. A long title wraps, because the user cannot see the whole name in
 * the list.
 */
export function detailRows(title: string, facts: readonly Fact[], columns: number): number {
  return wrapped(title, columns).length + linesOf(facts, columns).length;
}

/**
 * Shows the properties of the selected item. If the available space is too small for all values, the shortcut of `list.open` opens an
 * overlay that shows all values completely.
 */
export function Detail({ title, facts, isStale = false, height }: Props) {
  const { columns, rows } = useSize();
  const titleLines = title === undefined ? [] : wrapped(title, columns);
  const lines = linesOf(facts, columns);
  const shown = lines.slice(0, Math.max(0, (height ?? rows) - titleLines.length));
  const nameWidth = nameWidthOf(facts);
  const isComplete = shown.length === lines.length && !lines.some(({ isCut }) => isCut);
  useWholeValues(title, facts, rows > 0 && !isComplete);
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
      {shown.map(({ key, name, text, color }) => (
        <Box key={key} height={1} flexShrink={0}>
          <Box width={nameWidth} flexShrink={0}>
            <Text dimColor>{name}</Text>
          </Box>
          <SafeText dimColor={isStale} {...(color === undefined ? {} : { color })}>
            {text}
          </SafeText>
        </Box>
      ))}
    </Box>
  );
}

/** Registers the shortcut that shows all values completely. */
function useWholeValues(title: string | undefined, facts: readonly Fact[], isOffered: boolean): void {
  const { overlays } = useDashboard();
  const nameWidth = nameWidthOf(facts);
  const lines = facts.map(({ name, value }) => fitted(name, nameWidth) + value);
  useKeyScope({
    handlers:
      isOffered && title !== undefined ? { "list.open": () => overlays.show({ kind: "lines", title, lines, isWrapped: true }) } : {},
  });
}

interface FactLine extends Pick<Fact, "color"> {
  readonly key: string;
  readonly name: string;
  readonly text: string;
  /** Whether the line ends with an ellipsis in place of further lines. */
  readonly isCut: boolean;
}

/** Returns the lines of all facts. Only the first line of a fact has its name. */
function linesOf(facts: readonly Fact[], columns: number): FactLine[] {
  const width = columns - nameWidthOf(facts);
  return facts.flatMap(({ name, value, color, mostLines }, position) => {
    const lines = mostLines === undefined ? [value] : wrappedWords(value, width, mostLines);
    const isCut = mostLines !== undefined && wrappedWords(value, width, mostLines + 1).length > mostLines;
    return lines.map((text, index) => ({ key: `${position} ${index}`, name: index === 0 ? name : "", text, color, isCut }));
  });
}

function nameWidthOf(facts: readonly Fact[]): number {
  return Math.max(0, ...facts.map(({ name }) => name.length)) + 2;
}
