import { Box } from "ink";
import { useState } from "react";
import { printable } from "../../printable.js";
import { useKeyLayer } from "../hooks/use-key-layer.js";
import type { Question } from "../overlays.js";
import { PromptLine } from "./prompt-line.js";
import { Words } from "./words.js";

interface Props {
  readonly question: Question;
  readonly onAnswer: (agreed: boolean) => void;
}

/** Asks before what cannot be undone. Everything but the name, or `y`, means no. */
export function Confirm({ question, onAnswer }: Props) {
  return (
    <Box flexDirection="column" paddingX={2} paddingY={1}>
      <Words bold color="red">
        {question.isProduction ? "PRODUCTION" : "Sure?"}
      </Words>
      <Words wrap="wrap">{`${question.consequence}.`}</Words>
      {question.name === undefined ? <YesOrNo onAnswer={onAnswer} /> : <TypedName name={question.name} {...{ question, onAnswer }} />}
    </Box>
  );
}

function YesOrNo({ onAnswer }: Pick<Props, "onAnswer">) {
  useKeyLayer({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      onAnswer(key === "y");
      return true;
    },
  });
  return <Words>y/N (y: yes · any other key: no)</Words>;
}

function TypedName({ name, question, onAnswer }: Props & { readonly name: string }) {
  const [isWrong, setWrong] = useState(false);
  // A person types what can be seen of a name that holds control characters.
  const wanted = printable(name).trim();
  return (
    <>
      <Words>
        {question.isProduction
          ? `Type the profile's name (${name}) to confirm; esc leaves everything as it is`
          : `Type ${name} to confirm; esc leaves everything as it is`}
      </Words>
      <PromptLine
        label="name:"
        onSubmit={(text) => (text.trim() === wanted ? onAnswer(true) : text.trim() === "" ? onAnswer(false) : setWrong(true))}
        onCancel={() => onAnswer(false)}
      />
      {isWrong && <Words>That is another name. Nothing was changed.</Words>}
    </>
  );
}
