import type { ReactNode } from "react";
import "./badge.css";

interface BadgeProps {
  readonly tone?: "plain" | "good" | "warn" | "bad" | "accent";
  /** Whether the text can have any length, such as a version. The browser can break such a text across lines. */
  readonly isName?: boolean;
  readonly children: ReactNode;
}

/** A label that shows a state as a word. The color only repeats the state. */
export function Badge({ tone = "plain", isName = false, children }: BadgeProps) {
  return <span className={`badge badge-${tone}${isName ? " badge-name" : ""}`}>{children}</span>;
}
