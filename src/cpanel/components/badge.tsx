import type { ReactNode } from "react";
import "./badge.css";

interface BadgeProps {
  readonly tone?: "plain" | "good" | "warn" | "bad" | "accent";
  /** Whether the text can have any length, such as a version. Such text can break across lines. */
  readonly isName?: boolean;
  readonly children: ReactNode;
}

/** A label that shows a state as a word. The color repeats the state and adds no information. */
export function Badge({ tone = "plain", isName = false, children }: BadgeProps) {
  return <span className={`badge badge-${tone}${isName ? " badge-name" : ""}`}>{children}</span>;
}
