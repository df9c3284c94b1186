import type { Plugin } from "../../../shared/contract/plugins.js";
import { StateDot } from "../../components/state-dot.js";

export function PluginState({ plugin: { health } }: { plugin: Plugin }) {
  return <StateDot state={health.state} />;
}

/** Returns the cause of a plugin's state. Empty for a plugin without a problem. */
export function reasonOf({ health: { state, reason } }: Plugin): string {
  if (reason !== undefined) return reason;
  if (state === "failing") return "The plugin failed to load. The daemon's log has the reason.";
  return state === "disabled" ? "The plugin is installed but disabled." : "";
}
