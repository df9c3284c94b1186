import { useKeyLayer } from "../hooks/use-key-layer.js";
import { Words } from "./words.js";

/** Something takes its time, and can be cancelled. */
export function Waiting({ text, onCancel }: { readonly text: string; readonly onCancel: () => void }) {
  useKeyLayer({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      if (key === "esc") onCancel();
      return true;
    },
  });
  return (
    <>
      <Words>{text}</Words>
      <Words dimColor>esc cancels</Words>
    </>
  );
}
