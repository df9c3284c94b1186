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

/** Returns the `UploadTarget` for plugins: the texts, permission and functions that the upload dialog uses. */
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
  if (!plugin) return `A new plugin ${name}. It is loaded immediately`;
  return `Replaces the installed version ${plugin.version} (${plugin.health.state}) immediately`;
}

function notesOf({ entrypoint, pluginEntry, isEnabled }: PackageInfo): string[] {
  const isEmpty = entrypoint === undefined && pluginEntry === undefined;
  return [
    "A plugin runs inside the daemon with all of its permissions. Upload only code that you trust as much as the daemon.",
    ...(isEmpty ? ["The package has no code. Its manifest overrides the settings of the built-in plugin of that name."] : []),
    ...(isEnabled ? [] : ["The manifest has enabled: false, so the plugin is installed but disabled."]),
  ];
}
