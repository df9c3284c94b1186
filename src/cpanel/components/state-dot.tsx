import type { ReactNode } from "react";
import "./state-dot.css";

/** State of an app or a plugin, as in the API. */
export type HealthState = "ok" | "degraded" | "failing" | "backoff" | "idle" | "disabled";

const signs = new Map<string, string>(
  Object.entries({ ok: "●", degraded: "▲", failing: "✕", backoff: "◌", idle: "–", disabled: "○" } satisfies Record<HealthState, string>),
);

/**
 * Shows a state as a symbol and a word. A state that this version of the panel does not define, because the daemon is newer, has the symbol
 * `?`. The color only repeats the state. If `children` is set, it replaces the word.
 */
export function StateDot({ state, children = state }: { state: HealthState; children?: ReactNode }) {
  return (
    <span className={`state-dot state-${state}`}>
      <span aria-hidden="true" className="state-dot-sign">
        {signs.get(state) ?? "?"}
      </span>
      {children}
    </span>
  );
}
