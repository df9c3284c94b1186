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
  disabled: "Installed, and takes no part.",
  failed: "It could not be loaded; the daemon's log says why.",
  waiting: "What lies on the disk is not loaded yet. Reload to load it.",
};

export function PluginState({ plugin: { status } }: { plugin: Plugin }) {
  return <Badge tone={tones[status]}>{status}</Badge>;
}

/** Why a plugin is not at work; empty for one that is. */
export function reasonOf({ status, error }: Plugin): string {
  return error ?? meanings[status];
}
