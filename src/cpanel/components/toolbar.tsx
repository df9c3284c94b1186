import type { ReactNode } from "react";
import "./toolbar.css";

/** Filters above a list. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="search" aria-label={label} className="toolbar">
      {children}
    </div>
  );
}
