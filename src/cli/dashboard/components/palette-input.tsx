import { useEffect, useState } from "react";
import { completed, completionsOf } from "../completions.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useNames } from "../hooks/use-names.js";
import type { Session } from "../session.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly session: Session;
  readonly initial: string;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

/** The line of the palette: tab completes commands, names, flags and paths; up and down go through the lines before. */
export function PaletteInput({ session, initial, onSubmit, onCancel }: Props) {
  const { history } = useDashboard();
  const [text, setText] = useState(initial);
  const [steps, setSteps] = useState(0);
  const [candidates, setCandidates] = useState<readonly string[]>([]);
  const names = useNames(text.trimStart().split(/\s/)[0] ?? "");
  const { workingDirectory } = session.context;
  // Names are made again with every drawing; what they are counts.
  const knownNames = names.join(" ");
  useEffect(() => {
    let isLatest = true;
    const look = async () => {
      const found = await completionsOf(text, { names: knownNames === "" ? [] : knownNames.split(" "), workingDirectory });
      if (isLatest) setCandidates(found);
    };
    void look();
    return () => {
      isLatest = false;
    };
  }, [text, knownNames, workingDirectory]);
  const takeKey = (key: string, typed: string, set: (text: string) => void): boolean => {
    if (key === "tab") {
      void completionsOf(typed, { names, workingDirectory }).then((found) => set(completed(typed, found)));
      return true;
    }
    if (key !== "up" && key !== "down") return false;
    const wanted = Math.max(0, key === "up" ? steps + 1 : steps - 1);
    const line = wanted === 0 ? "" : history.back(wanted);
    if (line === undefined) return true;
    setSteps(wanted);
    set(line);
    return true;
  };
  return (
    <>
      <PromptLine label="runtimectl" onChange={setText} onKey={takeKey} {...{ initial, onSubmit, onCancel }} />
      <SafeText dimColor>
        {candidates.length === 0 ? "enter runs it · up: the line before" : `tab: ${candidates.slice(0, 12).join(" · ")}`}
      </SafeText>
    </>
  );
}
