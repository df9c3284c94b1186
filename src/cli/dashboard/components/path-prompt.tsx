import { useState } from "react";
import { completePath, afterTyping, withHome } from "../palette/complete-path.js";
import { useDashboard } from "../session/hooks.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly label: string;
  readonly initial: string;
  readonly hint: string;
  /** Whether the tab key completes the names of all files. If false, the tab key completes only the names of folders and archives. */
  readonly anyFile?: boolean;
  /** Callback that receives the entered path, with `~` replaced by the home folder. */
  readonly onSubmit: (path: string) => void;
  readonly onCancel: () => void;
}

/** Shows a text input for a local path. If the user enters nothing, the input is canceled. */
export function PathPrompt({ label, initial, hint, anyFile = false, onSubmit, onCancel }: Props) {
  const { workingDirectory, directories } = useDashboard().context;
  const [candidates, setCandidates] = useState<readonly string[]>([]);
  const complete = (key: string, typed: string, set: (text: string) => void): boolean => {
    if (key !== "tab") return false;
    const completion = completePath(typed, { workingDirectory, home: directories.home, anyFile });
    set(completion.text);
    setCandidates(completion.candidates);
    return true;
  };
  const submit = (text: string) => (text.trim() === "" ? onCancel() : onSubmit(withHome(text.trim(), directories.home)));
  return (
    <>
      <PromptLine {...{ label, initial, onCancel, afterTyping }} onSubmit={submit} onKey={complete} />
      <SafeText dimColor>{candidates.length > 1 ? candidates.slice(0, 20).join("  ") : hint}</SafeText>
    </>
  );
}
