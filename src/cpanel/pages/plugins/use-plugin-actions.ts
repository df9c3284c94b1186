import { useState } from "react";
import type { Plugin } from "../../../shared/contract/plugins.js";
import { pluralize } from "../../components/pluralize.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { pluginOperations } from "./plugin-operations.js";

export interface PluginActions {
  /** Subject of the pending action: the name of a plugin, or `reload`. */
  readonly pending: string | undefined;
  /** Title and error of the last action, and a function that removes both. Undefined if the last action succeeded. */
  readonly failure: { readonly title: string; readonly error: unknown; readonly onDismiss: () => void } | undefined;
  readonly toggle: (plugin: Plugin) => Promise<void>;
  readonly reload: () => Promise<void>;
}

export const reloading = "reload";

/** Provides the plugin actions that need no confirmation: enable, disable and reload. */
export function usePluginActions(refresh: () => Promise<void>): PluginActions {
  const api = useApi(pluginOperations);
  const { toasts } = usePanel();
  const { isPending, error, dismiss, run } = useMutation();
  const [tried, setTried] = useState({ subject: "", title: "" });
  const attempt = async (subject: string, title: string, action: () => Promise<void>) => {
    setTried({ subject, title });
    toasts.dismissAbout(subject);
    await run(action);
    await refresh();
  };
  const setEnabled = async (name: string, isEnabled: boolean, withUndo: boolean): Promise<void> => {
    await attempt(name, `${name} could not be switched ${isEnabled ? "on" : "off"}`, async () => {
      await api.plugins[isEnabled ? "enable" : "disable"]({ params: { name } });
      const found = (await api.plugins.list()).find((plugin) => plugin.name === name);
      const undo = { label: "Undo", run: () => void setEnabled(name, !isEnabled, false) };
      if (found?.status === "failed")
        toasts.say(`${name} is on, but could not be loaded.`, { subject: name, tone: "danger", action: undo });
      else toasts.say(`${name} is ${isEnabled ? "on" : "off"}.`, { subject: name, ...(withUndo && { action: undo }) });
    });
  };
  const reload = () =>
    attempt(reloading, "The plugins could not be loaded again", async () => {
      const { plugins } = (await api.plugins.reload()).data;
      const failed = plugins.filter((plugin) => plugin.error !== undefined).length;
      const text = `${plugins.filter(({ loaded }) => loaded).length} of ${pluralize(plugins.length, "plugin")} loaded.`;
      const message = failed === 0 ? text : `${text} ${failed} failed: the list says why.`;
      toasts.say(message, { subject: reloading, tone: failed === 0 ? "plain" : "danger" });
    });
  return {
    pending: isPending ? tried.subject : undefined,
    failure: error === undefined ? undefined : { title: tried.title, error, onDismiss: dismiss },
    toggle: ({ name, enabled }) => setEnabled(name, !enabled, true),
    reload,
  };
}
