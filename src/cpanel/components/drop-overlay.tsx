import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import "./drop-veil.css";

interface DropOverlayProps {
  readonly onDrop: (transfer: DataTransfer) => void;
  /** Whether another overlay on the page has priority. */
  readonly isFallback?: boolean;
  /** Text with the effect of a drop. */
  readonly children: ReactNode;
}

/** Accepts dropped files anywhere on the page. While the user drags files over the page, shows the effect of a drop. */
export function DropOverlay({ onDrop, isFallback = false, children }: DropOverlayProps) {
  const [isOver, setOver] = useState(false);
  const drop = useEffectEvent(onDrop);
  useEffect(() => watchDrops({ onOver: setOver, onDrop: (transfer) => drop(transfer), isFallback }), [isFallback]);
  if (!isOver) return null;
  return (
    <div className="drop-veil" aria-hidden="true">
      <p>{children}</p>
    </div>
  );
}

interface WatchOptions {
  readonly onOver: (isOver: boolean) => void;
  readonly onDrop: (transfer: DataTransfer) => void;
  readonly isFallback: boolean;
}

/** Adds drag-and-drop listeners to the window. Without them, the browser would open a file that is dropped outside of the target. */
function watchDrops({ onOver, onDrop, isFallback }: WatchOptions): () => void {
  const end = new AbortController();
  const on = (name: "dragenter" | "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
    addEventListener(
      name,
      (event) => {
        if (!event.dataTransfer?.types.includes("Files") || (isFallback && event.defaultPrevented)) return;
        act(event);
      },
      // Listeners of the capture phase run first, so a fallback sees what they have handled.
      { signal: end.signal, capture: !isFallback },
    );
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
