import type { UploadedFile } from "../platform/uploaded-file.js";
import type { Notified } from "../../shared/contract/instances.js";
import type { LoadedPlugin, Plugin, PluginHealth, PluginStatus, ReloadedPlugin } from "../../shared/contract/plugins.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { InstalledPlugin, StagedPlugin } from "../packages/plugin-catalog.js";
import type { ActivateUpload, PlacedPlugin } from "../packages/plugin-packages-options.js";
import type { UploadMeter } from "../metrics/upload-meter.js";

/** The functions of plugin packages that these handlers use. */
export interface PluginPackagesPort {
  discover(): InstalledPlugin[];
  isLocal(plugin: InstalledPlugin): boolean;
  install(file: UploadedFile, authorise: (name: string) => void, activate: ActivateUpload): Promise<PlacedPlugin>;
  setEnabled(name: string, enabled: boolean): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The functions of loaded plugins that these handlers use. */
export interface PluginsPort {
  /**
   * Loads all plugins from the disk. Resolves when the plugins are active. If `isFresh` returns true for an unchanged plugin, creates this
   * plugin again.
   */
  reload(options: { isFresh: (name: string) => boolean }): Promise<ReloadedPlugin[]>;
  /**
   * Loads the code of an upload, then calls `place`, which installs the upload. If the code fails to load and an earlier upload of the
   * plugin is loaded, throws PLUGIN_LOAD_FAILED.
   */
  install(upload: StagedPlugin, place: () => Promise<void>): Promise<void>;
  statusOf(plugin: InstalledPlugin): { status: PluginStatus; error?: string };
  /** Returns the loaded plugins in the order in which their hooks run. */
  loaded(): LoadedPlugin[];
}

/** Sends the signal to reload plugins to the other daemons. */
interface SignalsPort {
  send(signal: { readonly type: "reload-plugins"; readonly namespaces: string[] }): Promise<Notified>;
}

export function createPluginHandlers({
  packages,
  plugins,
  health,
  uploads,
  signals,
}: {
  packages: PluginPackagesPort;
  plugins: PluginsPort;
  health: { of(plugin: InstalledPlugin): PluginHealth };
  uploads: UploadMeter;
  /** Undefined without a primary. */
  signals: SignalsPort | undefined;
}): ResourceHandlers<"plugins"> {
  const toggle = async (name: string, enabled: boolean) => {
    await packages.setEnabled(name, enabled);
    await plugins.reload({ isFresh: isNever });
    return { success: true as const, data: { name, enabled } };
  };
  const activate: ActivateUpload = (upload, place) => plugins.install(upload, place);
  const shown = (plugin: InstalledPlugin): Plugin => {
    const { name, path, source, removable, version, enabled, deployment: deploy } = plugin;
    const { status, error } = plugins.statusOf(plugin);
    return {
      name,
      path,
      removable,
      source,
      ...(packages.isLocal(plugin) && { local: true }),
      version,
      enabled,
      status,
      ...(error !== undefined && { error }),
      health: health.of(plugin),
      ...(deploy && { deploy }),
    };
  };
  return {
    list: ({ principal }) => visibleTo(principal, packages.discover()).map(shown),
    loaded: ({ principal }) => visibleTo(principal, plugins.loaded()),
    upload: async ({ file, principal }) => {
      const authorise = (name: string) => assertNamespace(principal, name);
      const plugin = await uploads.count(file, () => packages.install(file, authorise, activate));
      return { success: true, data: { plugin } };
    },
    reload: async ({ principal }) => {
      const isFresh = (name: string) => namespacesCover(principal.namespaces, name);
      const reloaded = visibleTo(principal, await plugins.reload({ isFresh }));
      const instances = await signals?.send({ type: "reload-plugins", namespaces: [...principal.namespaces] });
      return { success: true, data: { plugins: reloaded, ...(instances && { instances }) } };
    },
    enable: ({ params }) => toggle(params.name, true),
    disable: ({ params }) => toggle(params.name, false),
    remove: async ({ params }) => {
      await packages.remove(params.name);
      await plugins.reload({ isFresh: isNever });
      return { success: true };
    },
  };
}

function isNever(): boolean {
  return false;
}

function visibleTo<Named extends { readonly name: string }>({ namespaces }: Principal, plugins: readonly Named[]): Named[] {
  return plugins.filter(({ name }) => namespacesCover(namespaces, name));
}
