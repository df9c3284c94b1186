import type { ReactNode } from "react";
import "./toolbar.css";

/** Bar above a list, with the search field and the filters. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="search" aria-label={label} className="toolbar">
      {children}
    </div>
  );
}
