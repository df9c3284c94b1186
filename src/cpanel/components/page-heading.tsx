import { useEffect, useRef, type ReactNode } from "react";
import { useRoute } from "../router/use-route.js";
import "./page-heading.css";

/** The only `h1` of a page, with the page's buttons. Sets the browser tab's title and receives the focus after each navigation. */
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
