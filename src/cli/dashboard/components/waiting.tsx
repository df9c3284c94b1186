import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { SafeText } from "./safe-text.js";

/** Shows the text of a running operation. Pressing esc cancels the operation. */
export function Waiting({ text, onCancel }: { readonly text: string; readonly onCancel: () => void }) {
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      if (key === "esc") onCancel();
      return true;
    },
  });
  return (
    <>
      <SafeText>{text}</SafeText>
      <SafeText dimColor>esc cancels</SafeText>
    </>
  );
}
