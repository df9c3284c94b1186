import { useMemo } from "react";
import { toPathSegments } from "../../../shared/package-name.js";
import { activeVersionOf, conflictingVersions, type InstalledVersion } from "../../../shared/worker-versions.js";
import { pluralize } from "../../components/pluralize.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import type { App } from "./app.js";
import { appOperations } from "./app-operations.js";

export interface AppActions {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly toggle: (app: App, installed: InstalledVersion) => void;
  /** Activates a version: enables it, then disables the versions that have priority over it. */
  readonly serve: (app: App, installed: InstalledVersion) => void;
  readonly restart: (app: App, installed: InstalledVersion) => void;
}

type Step = readonly [verb: "enable" | "disable", version: string];

const opposite = { enable: "disable", disable: "enable" } as const;

/** Provides the version actions that need no confirmation. After enabling, disabling or activating a version, the message offers Undo. */
export function useAppActions(onChanged: () => Promise<void>): AppActions {
  const api = useApi(appOperations);
  const { toasts } = usePanel();
  const { isPending, error, run } = useMutation();
  return useMemo(() => {
    const params = (app: App, version: string) => ({ params: { ...toPathSegments(app.name), version } });
    const take = async (app: App, steps: readonly Step[]) => {
      const done: Step[] = [];
      try {
        for (const [verb, version] of steps) {
          await api.workers[verb](params(app, version));
          done.unshift([opposite[verb], version]);
        }
      } catch (failure) {
        // Ignores an error while a completed step is reverted, because the list of versions shows the resulting state.
        for (const [verb, version] of done) await api.workers[verb](params(app, version)).catch(() => undefined);
        throw failure;
      } finally {
        await onChanged();
      }
      return done;
    };
    const say = (app: App, text: string, back: readonly Step[]) =>
      toasts.say(text, {
        subject: app.name,
        action: { label: "Undo", run: () => void run(async () => void (await take(app, back))) },
      });
    const toggle = (app: App, installed: InstalledVersion) =>
      void run(async () => {
        const verb = installed.enabled ? "disable" : "enable";
        const back = await take(app, [[verb, installed.version]]);
        say(app, `${app.name} ${installed.version} is ${verb}d. ${afterwards(app, installed)}`, back);
      });
    const serve = (app: App, installed: InstalledVersion) =>
      void run(async () => {
        const inTheWay = conflictingVersions(installed, app.versions);
        const on: readonly Step[] = installed.enabled ? [] : [["enable", installed.version]];
        const back = await take(app, [...on, ...inTheWay.map(({ version }): Step => ["disable", version])]);
        const off = inTheWay.map(({ version }) => version);
        const disabled = off.length === 0 ? "" : ` ${off.join(", ")} ${off.length === 1 ? "is" : "are"} disabled.`;
        say(app, `${app.name} ${installed.version} is active.${disabled}`, back);
      });
    const restart = (app: App, installed: InstalledVersion) =>
      void run(async () => {
        const { data } = await api.workers.restart(params(app, installed.version));
        toasts.say(`${app.name} ${installed.version} is restarted; ${pluralize(data.restarted, "isolate")} ended.`, {
          subject: app.name,
        });
      });
    return { isPending, error, toggle, serve, restart };
  }, [api, onChanged, toasts, isPending, error]);
}

/** Returns a sentence that names the active version after `toggled` is enabled or disabled. */
function afterwards(app: App, toggled: InstalledVersion): string {
  const versions = app.versions.map((installed) => (installed === toggled ? { ...installed, enabled: !installed.enabled } : installed));
  const serving = activeVersionOf(versions);
  return serving ? `${serving.version} is active.` : "No version is active.";
}
