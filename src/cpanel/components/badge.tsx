import type { ReactNode } from "react";
import "./badge.css";

/** A state as a word; colour only repeats it. */
export function Badge({ tone = "plain", children }: { tone?: "plain" | "good" | "warn" | "bad" | "accent"; children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}
