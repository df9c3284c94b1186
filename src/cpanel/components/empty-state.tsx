import type { ReactNode } from "react";
import "./state-note.css";

/** Explains why a list is empty, and shows a button for the user's first action. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="state-note" role="status">
      <p className="state-note-title">{title}</p>
      {children !== undefined && <div className="quiet">{children}</div>}
      {action}
    </div>
  );
}
