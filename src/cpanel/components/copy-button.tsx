import { usePanel } from "../use-panel.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

/** Copies a text to the clipboard. `label` names the text for screen readers, such as `URL of shop`. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { toasts } = usePanel();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toasts.say(`${label} copied.`, { subject: label });
    } catch {
      // Browsers provide the clipboard only to pages in a secure context, such as pages with HTTPS.
      toasts.say("The browser does not allow copying. Select the text and copy it.", { subject: label, tone: "danger" });
    }
  };
  return (
    <Button kind="bare" aria-label={`Copy ${label}`} onPress={() => void copy()}>
      <Icon name="copy" />
    </Button>
  );
}
