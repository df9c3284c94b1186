import { Box } from "ink";
import { useState } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import type { Question } from "./overlays.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly question: Question;
  readonly onAnswer: (agreed: boolean) => void;
}

/** Asks the user to confirm an irreversible action by typing the name, or `y` if no name is required. */
export function Confirm({ question, onAnswer }: Props) {
  return (
    <Box flexDirection="column" paddingX={2} paddingY={1}>
      <SafeText bold color="red">
        {question.isProduction ? "PRODUCTION" : "Confirm"}
      </SafeText>
      <SafeText wrap="wrap">{`${question.consequence}.`}</SafeText>
      {question.name === undefined ? <YesOrNo onAnswer={onAnswer} /> : <TypedName name={question.name} {...{ question, onAnswer }} />}
    </Box>
  );
}

function YesOrNo({ onAnswer }: Pick<Props, "onAnswer">) {
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      onAnswer(key === "y");
      return true;
    },
  });
  return <SafeText>y/N (y: yes · any other key: no)</SafeText>;
}

function TypedName({ name, question, onAnswer }: Props & { readonly name: string }) {
  const [isWrong, setWrong] = useState(false);
  // The screen shows the name with control characters escaped, so the user types the escaped form.
  const wanted = sanitizeForTerminal(name).trim();
  return (
    <>
      <SafeText>
        {question.isProduction ? `Type the profile name (${name}) to confirm; esc cancels` : `Type ${name} to confirm; esc cancels`}
      </SafeText>
      <PromptLine
        label="name:"
        onSubmit={(text) => (text.trim() === wanted ? onAnswer(true) : text.trim() === "" ? onAnswer(false) : setWrong(true))}
        onCancel={() => onAnswer(false)}
      />
      {isWrong && <SafeText>The name does not match. Nothing changed.</SafeText>}
    </>
  );
}
