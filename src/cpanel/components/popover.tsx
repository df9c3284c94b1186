import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import "./popover.css";

interface PopoverProps {
  /** Name of the button for screen readers, such as `Account`. */
  readonly label: string;
  /** Content of the button. */
  readonly button: ReactNode;
  /** Appearance of the button: `primary` for the main action of the page, `bare` for an icon. Default: `bare`. */
  readonly kind?: "plain" | "primary" | "bare";
  /** Whether a click inside the popover closes the popover, as in a menu. Default: false. */
  readonly closesOnClick?: boolean;
  readonly children: ReactNode;
}

/** A button that shows a popover below it. Escape closes the popover, and so does a click or a focus outside of the popover. */
export function Popover({ label, button, kind = "bare", closesOnClick = false, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
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
    const isChoice = ({ target }: Event) => closesOnClick && target instanceof Node && panel.current?.contains(target) === true;
    // Moves the focus before the action runs, because the action can open a dialog that takes the focus.
    const leave = (event: Event) => isChoice(event) && root.current?.querySelector("button")?.focus();
    const closeAfterChoice = (event: Event) => isChoice(event) && setOpen(false);
    document.addEventListener("click", leave, { capture: true, signal: end.signal });
    document.addEventListener("click", closeAfterChoice, { signal: end.signal });
    document.addEventListener("pointerdown", closeOutside, { signal: end.signal });
    document.addEventListener("focusin", closeOutside, { signal: end.signal });
    document.addEventListener("keydown", closeWithEscape, { signal: end.signal });
    return () => end.abort();
  }, [isOpen, closesOnClick]);
  return (
    <div ref={root} className="popover">
      <button
        type="button"
        className={kind === "bare" ? "popover-button" : `button button-${kind}`}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div id={id} ref={panel} role="group" aria-label={label} className="popover-panel">
          {children}
        </div>
      )}
    </div>
  );
}
