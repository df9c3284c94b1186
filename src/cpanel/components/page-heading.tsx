import { useEffect, useRef, type ReactNode } from "react";
import { useRoute } from "../router/use-route.js";
import "./page-heading.css";

/** The page's only `h1`, with its actions. Sets the title of the tab, and takes the focus after a link. */
export function PageHeading({ title, note, children }: { title: string; note?: ReactNode; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { visit } = useRoute();
  useEffect(() => {
    document.title = `${title} · runtimed`;
  }, [title]);
  useEffect(() => {
    if (visit > 0) heading.current?.focus();
  }, [visit]);
  return (
    <div className="page-heading">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {note !== undefined && <div className="quiet">{note}</div>}
      </div>
      {children !== undefined && <div className="page-heading-actions">{children}</div>}
    </div>
  );
}
