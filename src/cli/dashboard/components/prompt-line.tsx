import { Box, Text } from "ink";
import { useTextInput } from "../hooks/use-text-input.js";
import { fitted } from "../fitted.js";
import { useSize } from "../hooks/use-size.js";

interface Props {
  readonly label: string;
  readonly initial?: string;
  /** What is typed does not show. */
  readonly isSecret?: boolean;
  readonly onChange?: (text: string) => void;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
  readonly afterTyping?: (before: string, typed: string) => string;
  readonly onKey?: (key: string, text: string, setText: (text: string) => void) => boolean;
}

/** One line to type into. */
export function PromptLine({ label, isSecret = false, ...input }: Props) {
  const { columns } = useSize();
  const text = useTextInput(input);
  const room = Math.max(1, columns - label.length - 3);
  // The end of what is typed stays in sight.
  const shown = isSecret ? (text === "" ? "" : "(typed, hidden)") : text.slice(-room);
  return (
    <Box height={1} flexShrink={0}>
      <Text bold>{label} </Text>
      <Text>{fitted(shown, Math.min(room, shown.length))}</Text>
      <Text inverse> </Text>
    </Box>
  );
}
