import type { ReactNode } from "react";
import "./state-note.css";

/** Says why there is nothing to see, and what to do about it. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="state-note" role="status">
      <p className="state-note-title">{title}</p>
      {children !== undefined && <div className="quiet">{children}</div>}
      {action}
    </div>
  );
}
