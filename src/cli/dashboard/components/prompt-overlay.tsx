import type { Prompt } from "./overlays.js";
import { PathPrompt } from "./path-prompt.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly prompt: Prompt;
  readonly onClose: () => void;
}

/** Shows a text input of one line in an overlay. If the user enters nothing, the input is canceled. */
export function PromptOverlay({ prompt: { label, initial, hint, completesFiles = false, isSecret = false, onSubmit }, onClose }: Props) {
  const submit = (text: string) => {
    onClose();
    if (text.trim() !== "") onSubmit(isSecret ? text : text.trim());
  };
  if (completesFiles) return <PathPrompt {...{ label, initial, hint }} anyFile onSubmit={submit} onCancel={onClose} />;
  return (
    <>
      <PromptLine {...{ label, initial, isSecret }} onSubmit={submit} onCancel={onClose} />
      <SafeText dimColor>{hint}</SafeText>
    </>
  );
}
