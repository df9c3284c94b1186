import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import "./drop-veil.css";

/** Accepts dropped files anywhere on the page. While the user drags files over the page, shows the effect of a drop. */
export function DropOverlay({ onDrop, children }: { onDrop: (transfer: DataTransfer) => void; children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  const drop = useEffectEvent(onDrop);
  useEffect(() => watchDrops({ onOver: setOver, onDrop: (transfer) => drop(transfer) }), []);
  if (!isOver) return null;
  return (
    <div className="drop-veil" aria-hidden="true">
      <p>{children}</p>
    </div>
  );
}

/** Adds drag-and-drop listeners to the window. Without them, the browser would open a file that is dropped outside of the target. */
function watchDrops({ onOver, onDrop }: { onOver: (isOver: boolean) => void; onDrop: (transfer: DataTransfer) => void }): () => void {
  const end = new AbortController();
  const on = (name: "dragenter" | "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
    addEventListener(name, (event) => event.dataTransfer?.types.includes("Files") && act(event), { signal: end.signal });
  on("dragenter", (event) => {
    event.preventDefault();
    onOver(true);
  });
  on("dragover", (event) => event.preventDefault());
  // A `dragleave` event without a related target means that the pointer has left the window.
  on("dragleave", (event) => event.relatedTarget === null && onOver(false));
  on("drop", (event) => {
    event.preventDefault();
    onOver(false);
    if (event.dataTransfer) onDrop(event.dataTransfer);
  });
  return () => end.abort();
}
