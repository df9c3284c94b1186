import { useState } from "react";
import { completePath } from "../complete-path.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import type { Prompt } from "../overlays.js";
import { PromptLine } from "./prompt-line.js";
import { Words } from "./words.js";

interface Props {
  readonly prompt: Prompt;
  readonly onClose: () => void;
}

/** Asks for a line; nothing typed is a no. */
export function PromptOverlay({ prompt: { label, initial, hint, completesFiles = false, onSubmit }, onClose }: Props) {
  const { context } = useDashboard();
  const [candidates, setCandidates] = useState<readonly string[]>([]);
  const complete = (key: string, typed: string, set: (text: string) => void): boolean => {
    if (key !== "tab" || !completesFiles) return false;
    const completion = completePath(typed, context.workingDirectory, { anyFile: true });
    set(completion.text);
    setCandidates(completion.candidates);
    return true;
  };
  const submit = (text: string) => {
    onClose();
    if (text.trim() !== "") onSubmit(text.trim());
  };
  return (
    <>
      <PromptLine {...{ label, initial }} onSubmit={submit} onCancel={onClose} onKey={complete} />
      <Words dimColor>{candidates.length > 1 ? candidates.slice(0, 20).join("  ") : hint}</Words>
    </>
  );
}
