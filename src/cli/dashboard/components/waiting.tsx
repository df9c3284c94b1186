import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { SafeText } from "./safe-text.js";

/** Shows a text while an operation runs. The user cancels the operation with esc. */
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
