import type { ReactNode } from "react";
import "./badge.css";

interface BadgeProps {
  readonly tone?: "plain" | "good" | "warn" | "bad" | "accent";
  /** It says a name of any length, such as a version, and not one of a few words. */
  readonly isName?: boolean;
  readonly children: ReactNode;
}

/** A state as a word; colour only repeats it. */
export function Badge({ tone = "plain", isName = false, children }: BadgeProps) {
  return <span className={`badge badge-${tone}${isName ? " badge-name" : ""}`}>{children}</span>;
}
