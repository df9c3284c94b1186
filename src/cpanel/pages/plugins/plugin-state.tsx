import type { Plugin, PluginStatus } from "../../../shared/contract/plugins.js";
import { Badge } from "../../components/badge.js";

const tones: Readonly<Record<PluginStatus, "good" | "plain" | "bad" | "warn">> = {
  loaded: "good",
  disabled: "plain",
  failed: "bad",
  waiting: "warn",
};

const meanings: Readonly<Record<PluginStatus, string>> = {
  loaded: "",
  disabled: "The plugin is installed but disabled.",
  failed: "The plugin failed to load. The daemon's log has the reason.",
  waiting: "The plugin is on the disk but not loaded. Reload to load it.",
};

export function PluginState({ plugin: { status } }: { plugin: Plugin }) {
  return <Badge tone={tones[status]}>{status}</Badge>;
}

/** Returns the reason why a plugin is not loaded. Empty for a loaded plugin. */
export function reasonOf({ status, error }: Plugin): string {
  return error ?? meanings[status];
}
