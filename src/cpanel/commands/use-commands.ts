import { useMemo } from "react";
import * as changes from "../../shared/contract/worker-changes.js";
import * as plugins from "../../shared/contract/plugins.js";
import * as workers from "../../shared/contract/workers.js";
import { toPathSegments } from "../../shared/package-name.js";
import { useApi } from "../live/use-api.js";
import { useResource } from "../live/use-resource.js";
import { useServedAt } from "../live/use-served-at.js";
import { pluralize } from "../components/pluralize.js";
import { toApps, type App } from "../pages/apps/app.js";
import { appUrl } from "../pages/apps/app-url.js";
import { detailOf, filesOf } from "../pages/plugins/plugin-address.js";
import { sectionsFor } from "../pages/sections.js";
import { usePrincipal } from "../session/use-principal.js";
import { usePanel } from "../use-panel.js";
import type { Command } from "./command.js";

const operations = { workers: { list: workers.list, restart: changes.restart }, plugins: { list: plugins.list, reload: plugins.reload } };

/** Returns all commands that the signed-in key is allowed to run. */
export function useCommands(): readonly Command[] {
  const api = useApi(operations);
  const { permissions } = usePrincipal();
  const { data: installed } = useResource("workers", () => api.workers.list(), { isWanted: permissions.includes("workers:read") });
  const { data: known } = useResource("plugins", () => api.plugins.list(), { isWanted: permissions.includes("plugins:read") });
  const { router, theme, rail, session, toasts } = usePanel();
  const servedAt = useServedAt();
  return useMemo(() => {
    const go = (to: string) => () => router.go(to);
    const restart = async ({ name }: App, version: string) => {
      const { data } = await api.workers.restart({ params: { ...toPathSegments(name), version } });
      toasts.say(`${name} ${version} is restarted; ${pluralize(data.restarted, "isolate")} ended.`, { subject: name });
    };
    const ofApp = (app: App): Command[] => {
      const { name, serving } = app;
      const entry = { group: "Apps", isDetail: true } as const;
      const commands: Command[] = [
        { ...entry, id: `app ${name}`, icon: "apps", title: name, isDetail: app.isBuiltIn, run: go(`apps/${name}`) },
        { ...entry, id: `logs ${name}`, icon: "logs", title: `${name}: logs`, run: go(`apps/${name}/logs`) },
        { ...entry, id: `files ${name}`, icon: "files", title: `${name}: files`, run: go(`apps/${name}/files`) },
      ];
      if (!serving) return commands;
      const open = () => void window.open(appUrl(servedAt, name), "_blank", "noopener,noreferrer");
      commands.push({ ...entry, id: `open ${name}`, icon: "external", title: `${name}: open in a new tab`, run: open });
      if (permissions.includes("workers:restart"))
        commands.push({
          ...entry,
          id: `restart ${name}`,
          icon: "restart",
          title: `${name}: restart ${serving.version}`,
          run: () => restart(app, serving.version),
        });
      return commands;
    };
    const ofPlugin = ({ name }: { readonly name: string }): Command[] => [
      { id: `plugin ${name}`, group: "Plugins", icon: "plugins", title: name, run: go(detailOf(name)) },
      { id: `plugin files ${name}`, group: "Plugins", icon: "files", title: `${name}: files`, isDetail: true, run: go(filesOf(name)) },
    ];
    const reload = async () => {
      const { data } = await api.plugins.reload();
      toasts.say(`${pluralize(data.plugins.length, "plugin")} reloaded.`);
    };
    const actions: Command[] = [
      ...(permissions.includes("keys:create")
        ? [{ id: "new key", group: "Actions", icon: "add", title: "Create a key", run: go("keys/new") } as const]
        : []),
      ...(permissions.includes("plugins:install")
        ? [{ id: "reload plugins", group: "Actions", icon: "restart", title: "Reload the plugins", run: reload } as const]
        : []),
      ...(["light", "dark", "system"] as const).map((choice): Command => ({
        id: `theme ${choice}`,
        group: "Actions",
        icon: "theme",
        title: `Use the ${choice} theme`,
        run: () => theme.choose(choice),
      })),
      { id: "rail", group: "Actions", icon: "rail", title: "Collapse or expand the navigation", run: () => rail.toggle() },
      { id: "sign out", group: "Actions", icon: "sign-out", title: "Sign out", run: () => session.signOut() },
    ];
    return [
      ...sectionsFor(permissions).map(({ path, title, icon }): Command => ({
        id: `page ${path}`,
        group: "Pages",
        icon,
        title,
        run: go(path),
      })),
      ...toApps(installed ?? []).flatMap(ofApp),
      ...(known ?? []).flatMap(ofPlugin),
      ...actions,
    ];
  }, [api, permissions, installed, known, router, theme, rail, session, toasts, servedAt]);
}
