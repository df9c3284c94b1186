import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import "./popover.css";

interface PopoverProps {
  /** Name of the button for screen readers, such as `Account`. */
  readonly label: string;
  /** Content of the button. */
  readonly button: ReactNode;
  readonly children: ReactNode;
}

/** A button that shows a small panel below it. Escape, a click outside and a focus outside close the panel. */
export function Popover({ label, button, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    const end = new AbortController();
    const closeOutside = ({ target }: Event) => target instanceof Node && !root.current?.contains(target) && setOpen(false);
    const closeWithEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      root.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", closeOutside, { signal: end.signal });
    document.addEventListener("focusin", closeOutside, { signal: end.signal });
    document.addEventListener("keydown", closeWithEscape, { signal: end.signal });
    return () => end.abort();
  }, [isOpen]);
  return (
    <div ref={root} className="popover">
      <button
        type="button"
        className="popover-button"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div id={id} role="group" aria-label={label} className="popover-panel">
          {children}
        </div>
      )}
    </div>
  );
}
