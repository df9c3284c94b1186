import { lazy, Suspense, useEffect, useState } from "react";
import { Icon } from "../components/icon.js";
import { usePanel } from "../use-panel.js";

/** The code of the menu is loaded when the user opens the menu for the first time. */
const CommandMenu = lazy(async () => ({ default: (await import("../commands/command-menu.js")).CommandMenu }));

/** Button in the form of a search field. The button and Ctrl+K (⌘K) open the command menu. */
export function CommandField() {
  const { toasts } = usePanel();
  // Undefined until the user opens the menu for the first time.
  const [isOpen, setOpen] = useState<boolean>();
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      // Ignores the shortcut while a dialog is open, because the dialog must keep the focus.
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') === null) setOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <button
        type="button"
        className="command-field"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        <span className="visually-hidden">Command menu: </span>
        <span className="command-field-text">Go to app, run action</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {isOpen !== undefined && (
        <Suspense>
          <CommandMenu
            isOpen={isOpen}
            onClose={() => setOpen(false)}
            onError={(error) => toasts.say(error instanceof Error ? error.message : "The action failed.", { tone: "danger" })}
          />
        </Suspense>
      )}
    </>
  );
}
