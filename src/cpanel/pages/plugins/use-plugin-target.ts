import { useMemo } from "react";
import { list, upload, type Plugin } from "../../../shared/contract/plugins.js";
import { useApi } from "../../live/use-api.js";
import { nothingToSend } from "../../live/upload-transport.js";
import { useMay } from "../../session/use-principal.js";
import type { PackageInfo } from "../../upload/package-info.js";
import type { UploadTarget } from "../../upload/upload-target.js";
import { usePanel } from "../../use-panel.js";
import { PluginInstalled } from "./plugin-installed.js";

const operations = { plugins: { list } };

/** Where plugins are uploaded to. */
export function usePluginTarget(): UploadTarget<Plugin> {
  const { connection, resources } = usePanel();
  const api = useApi(operations);
  const mayRead = useMay("plugins:read");
  return useMemo(
    () => ({
      kind: "plugin",
      noun: "plugin",
      permission: "plugins:install",
      find: async (name) => (mayRead ? (await api.plugins.list()).find((plugin) => plugin.name === name) : undefined),
      install: async (sent) => {
        const client = connection.uploadClient({ plugins: { upload } }, { field: upload.upload, ...sent });
        const { plugin } = (await client.plugins.upload({ file: nothingToSend() })).data;
        await Promise.all(["plugins", "plugins.loaded"].map((name) => resources.of(name).refreshAfterChange()));
        return plugin;
      },
      effectOf,
      notesOf,
      Done: PluginInstalled,
    }),
    [connection, resources, api, mayRead],
  );
}

function effectOf({ name }: PackageInfo, plugin: Plugin | undefined): string {
  if (!plugin) return `A new plugin ${name}, which takes effect at once`;
  return `Replaces ${plugin.version}, which is there (${plugin.status}), at once`;
}

function notesOf({ entrypoint, pluginEntry, isEnabled }: PackageInfo): string[] {
  const isEmpty = entrypoint === undefined && pluginEntry === undefined;
  return [
    "A plugin runs inside the daemon, with all that the daemon may do: upload only what you trust as you trust the daemon.",
    ...(isEmpty ? ["There is no code in it: its manifest is for a built-in plugin of that name."] : []),
    ...(isEnabled ? [] : ["Its manifest says enabled: false: it is installed, and takes no part."]),
  ];
}
