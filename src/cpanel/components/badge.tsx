import type { ReactNode } from "react";
import "./badge.css";

interface BadgeProps {
  readonly tone?: "plain" | "good" | "warn" | "bad" | "accent";
  /** Whether the text is a name of any length, such as a version. */
  readonly isName?: boolean;
  readonly children: ReactNode;
}

/** A state as a word. The color only repeats the word. */
export function Badge({ tone = "plain", isName = false, children }: BadgeProps) {
  return <span className={`badge badge-${tone}${isName ? " badge-name" : ""}`}>{children}</span>;
}
