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

/** Asks before what cannot be undone. Everything but the name, or `y`, means no. */
export function Confirm({ question, onAnswer }: Props) {
  return (
    <Box flexDirection="column" paddingX={2} paddingY={1}>
      <SafeText bold color="red">
        {question.isProduction ? "PRODUCTION" : "Sure?"}
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
  // A person types what can be seen of a name that holds control characters.
  const wanted = sanitizeForTerminal(name).trim();
  return (
    <>
      <SafeText>
        {question.isProduction
          ? `Type the profile's name (${name}) to confirm; esc leaves everything as it is`
          : `Type ${name} to confirm; esc leaves everything as it is`}
      </SafeText>
      <PromptLine
        label="name:"
        onSubmit={(text) => (text.trim() === wanted ? onAnswer(true) : text.trim() === "" ? onAnswer(false) : setWrong(true))}
        onCancel={() => onAnswer(false)}
      />
      {isWrong && <SafeText>That is another name. Nothing was changed.</SafeText>}
    </>
  );
}
