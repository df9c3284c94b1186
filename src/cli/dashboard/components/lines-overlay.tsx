import { Box } from "ink";
import { useState } from "react";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useSize } from "../terminal/terminal-size.js";
import { wrappedWords } from "../terminal/wrapped.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly title: string;
  readonly lines: readonly string[];
  /** Whether long lines wrap between words. By default, long lines are truncated, as in a table. */
  readonly isWrapped?: boolean | undefined;
  readonly onClose: () => void;
}

/** Shows scrollable text, such as the output of a command. */
export function LinesOverlay({ title, lines: given, isWrapped = false, onClose }: Props) {
  const { columns, rows } = useSize();
  const lines = isWrapped ? given.flatMap((line) => wrappedWords(line, columns - 2, Infinity)) : given;
  const [wanted, setFirst] = useState(0);
  const height = Math.max(1, rows - 2);
  const last = Math.max(0, lines.length - height);
  const first = Math.min(wanted, last);
  const steps: Readonly<Record<string, number>> = {
    j: 1,
    down: 1,
    k: -1,
    up: -1,
    pgdn: height,
    space: height,
    pgup: -height,
    g: -last,
    home: -last,
    G: last,
    end: last,
  };
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      const step = steps[key];
      if (step === undefined) onClose();
      else setFirst(Math.max(0, Math.min(first + step, last)));
      return true;
    },
  });
  const end = Math.min(first + height, lines.length);
  const position = last === 0 ? "(esc closes)" : `· ${first + 1}-${end} of ${lines.length} (j k, esc closes)`;
  return (
    <Box flexDirection="column" paddingX={1}>
      <SafeText bold>{`${title} ${position}`}</SafeText>
      {lines.slice(first, first + height).map((line, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity; two lines can be equal
        <SafeText key={first + index}>{line === "" ? " " : line}</SafeText>
      ))}
    </Box>
  );
}
