import { Box } from "ink";
import { useKeyScope } from "../hooks/use-key-scope.js";
import { SafeText } from "./safe-text.js";

interface Props<Choice extends string> {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly isActive: boolean;
  readonly onChoose: (choice: Choice) => void;
  /** The other keys. */
  readonly onKey: (key: string) => void;
}

/** One of a few words, chosen with the arrows or space. */
export function ChoiceLine<Choice extends string>({ label, choices, chosen, isActive, onChoose, onKey }: Props<Choice>) {
  const takeKey = (key: string): boolean => {
    const step = key === "right" || key === "space" ? 1 : key === "left" ? -1 : 0;
    const next = choices[(choices.indexOf(chosen) + step + choices.length) % choices.length];
    if (step !== 0 && next !== undefined) onChoose(next);
    else onKey(key);
    return true;
  };
  useKeyScope(isActive ? { handlers: {}, isModal: true, takeKey } : { handlers: {} });
  return (
    <Box height={1} flexShrink={0} columnGap={1}>
      <SafeText bold={isActive}>{label}</SafeText>
      {choices.map((choice) => (
        <SafeText key={choice} inverse={isActive && choice === chosen}>
          {choice === chosen ? `(${choice})` : ` ${choice} `}
        </SafeText>
      ))}
    </Box>
  );
}
