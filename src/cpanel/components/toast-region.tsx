import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import { Button } from "./button.js";
import "./toast-region.css";

/** Shows short messages about user actions, and announces the messages to screen readers. */
export function ToastRegion() {
  const { toasts } = usePanel();
  const shown = useObserved(toasts.shown);
  return (
    <section className="toast-region" aria-label="Messages" data-react-aria-top-layer="true">
      <div role="status" aria-live="polite" aria-atomic="false">
        {shown.map((toast) => (
          <div key={toast.id} className={`toast toast-${toast.tone}`}>
            <p>{toast.text}</p>
            {toast.action && (
              <Button
                kind="bare"
                onPress={() => {
                  toast.action?.run();
                  toasts.dismiss(toast.id);
                }}
              >
                {toast.action.label}
              </Button>
            )}
            <Button kind="bare" aria-label="Dismiss" onPress={() => toasts.dismiss(toast.id)}>
              ✕
            </Button>
          </div>
        ))}
      </div>
    </section>
  );
}
