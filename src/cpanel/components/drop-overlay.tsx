import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import "./drop-veil.css";

interface DropOverlayProps {
  readonly onDrop: (transfer: DataTransfer) => void;
  /** Whether this overlay accepts only files that no other overlay on the page accepts. */
  readonly isFallback?: boolean;
  /** Text that describes what happens to dropped files. */
  readonly children: ReactNode;
}

/**
 * Accepts dropped files anywhere on the page. While the user drags files over the page, shows a text that describes what happens to them.
 */
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

/**
 * Adds drag-and-drop listeners to the window. Without these listeners, the browser would open each dropped file. Returns a function that
 * removes the listeners.
 */
function watchDrops({ onOver, onDrop, isFallback }: WatchOptions): () => void {
  const end = new AbortController();
  const on = (name: "dragenter" | "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
    addEventListener(
      name,
      (event) => {
        if (!event.dataTransfer?.types.includes("Files") || (isFallback && event.defaultPrevented)) return;
        act(event);
      },
      // A fallback listens in the bubble phase, which follows the capture phase. The fallback thus runs last and ignores the events that
      // another overlay has handled.
      { signal: end.signal, capture: !isFallback },
    );
  on("dragenter", (event) => {
    event.preventDefault();
    onOver(true);
  });
  on("dragover", (event) => event.preventDefault());
  // A `dragleave` event without a related target means that the mouse pointer has left the window.
  on("dragleave", (event) => event.relatedTarget === null && onOver(false));
  on("drop", (event) => {
    event.preventDefault();
    onOver(false);
    if (event.dataTransfer) onDrop(event.dataTransfer);
  });
  return () => end.abort();
}
