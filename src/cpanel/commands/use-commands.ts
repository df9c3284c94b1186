import { useMemo } from "react";
import type { Instance } from "../../shared/contract/instances.js";
import { list, type Plugin } from "../../shared/contract/plugins.js";
import { instanceLabel } from "../../shared/instance-list.js";
import { useApi } from "../live/use-api.js";
import { useResource } from "../live/use-resource.js";
import { useServedAt } from "../live/use-served-at.js";
import type { App } from "../pages/apps/app.js";
import { appMenu } from "../pages/apps/app-menu.js";
import { useAppHealth } from "../pages/apps/use-app-health.js";
import { useApps } from "../pages/apps/use-apps.js";
import { instanceMenu } from "../pages/instances/instance-menu.js";
import { useInstances, useMayDrain } from "../pages/instances/use-instances.js";
import { detailOf, filesOf } from "../pages/plugins/plugin-address.js";
import { sectionsFor } from "../pages/sections.js";
import { usePrincipal } from "../session/use-principal.js";
import { usePanel } from "../use-panel.js";
import type { Command } from "./command.js";
import type { CommandActions } from "./use-command-actions.js";

const operations = { plugins: { list } };

/** Returns all commands that the signed-in key is allowed to run. */
export function useCommands(actions: CommandActions): readonly Command[] {
  const api = useApi(operations);
  const { permissions } = usePrincipal();
  const { apps } = useApps();
  const { byName: health } = useAppHealth();
  const { data: plugins } = useResource("plugins", () => api.plugins.list(), { isWanted: permissions.includes("plugins:read") });
  const { data: instances } = useInstances();
  const mayDrain = useMayDrain();
  const { router, theme, rail, session } = usePanel();
  const servedAt = useServedAt();
  return useMemo(() => {
    const go = (to: string) => () => router.go(to);
    const may = { change: permissions.includes("workers:install"), restart: permissions.includes("workers:restart") };
    const ofApp = (app: App): Command[] => {
      const { name, serving, isBuiltIn } = app;
      const entry = { group: "Apps", isDetail: true } as const;
      const { state, rollbackTo } = health.get(name) ?? {};
      const shownState = serving === undefined ? "disabled" : state;
      return [
        { ...entry, id: `app ${name}`, icon: "apps", title: name, state: shownState, isDetail: isBuiltIn, run: go(`apps/${name}`) },
        { ...entry, id: `logs ${name}`, icon: "logs", title: `${name}: logs`, run: go(`apps/${name}/logs`) },
        { ...entry, id: `files ${name}`, icon: "files", title: `${name}: files`, run: go(`apps/${name}/files`) },
        ...appMenu(app, rollbackTo, { servedAt, actions: actions.apps, may }).flatMap((choice): Command[] => {
          const { title, icon } = choice;
          const id = `${title} ${name}`;
          if ("run" in choice) return [{ ...entry, id, icon, title: `${name}: ${lowerFirst(title)}`, run: choice.run }];
          if (!("href" in choice)) return [];
          const open = () => void window.open(choice.href, "_blank", "noopener,noreferrer");
          return [{ ...entry, id, icon, title: `${name}: open in a new tab`, run: open }];
        }),
      ];
    };
    const mayToggle = permissions.includes("plugins:install");
    const ofPlugin = (plugin: Plugin): Command[] => {
      const {
        name,
        enabled,
        health: { state },
      } = plugin;
      const entry = { group: "Plugins", isDetail: true } as const;
      const toggle = {
        id: `toggle ${name}`,
        icon: enabled ? "power" : "play",
        title: `${name}: ${enabled ? "disable" : "enable"}`,
      } as const;
      return [
        { ...entry, id: `plugin ${name}`, icon: "plugins", title: name, state, isDetail: false, run: go(detailOf(name)) },
        { ...entry, id: `plugin files ${name}`, icon: "files", title: `${name}: files`, run: go(filesOf(name)) },
        ...(mayToggle ? [{ ...entry, ...toggle, run: () => actions.plugins.toggle(plugin) }] : []),
      ];
    };
    const ofInstance = (instance: Instance): Command[] =>
      instanceMenu(instance, actions.instances).flatMap((choice): Command[] => {
        if (!("run" in choice)) return [];
        const name = instanceLabel(instance, instances ?? []);
        const { title, icon, run } = choice;
        return [{ group: "Instances", isDetail: true, id: `${title} ${instance.id}`, icon, title: `${name}: ${lowerFirst(title)}`, run }];
      });
    const general: Command[] = [
      ...(permissions.includes("keys:create")
        ? [{ id: "new key", group: "Actions", icon: "add", title: "Create a key", run: go("keys/new") } as const]
        : []),
      ...(mayToggle
        ? [{ id: "reload plugins", group: "Actions", icon: "restart", title: "Reload the plugins", run: actions.plugins.reload } as const]
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
      ...apps.flatMap(ofApp),
      ...(plugins ?? []).flatMap(ofPlugin),
      ...(mayDrain ? (instances ?? []).flatMap(ofInstance) : []),
      ...general,
    ];
  }, [actions, permissions, apps, health, plugins, instances, mayDrain, router, theme, rail, session, servedAt]);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
