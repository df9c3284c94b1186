import { lazy, Suspense, useCallback, useState } from "react";
import type { ApiKey } from "../../../shared/contract/keys.js";
import type { Incident } from "../../../shared/incidents.js";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Icon } from "../../components/icon.js";
import { ProblemStart } from "../../components/problem-start.js";
import { RelativeTime } from "../../components/relative-time.js";
import { StateDot } from "../../components/state-dot.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { rollbackOf } from "../apps/app-menu.js";
import { useAppActions } from "../apps/use-app-actions.js";
import { useAppHealth } from "../apps/use-app-health.js";
import { useApps } from "../apps/use-apps.js";
import { detailOf } from "../plugins/plugin-address.js";
import { usePluginActions } from "../plugins/use-plugin-actions.js";
import type { Incidents } from "./use-incidents.js";
import "./incident-list.css";

const mostShown = 6;

/** The browser loads the dialog when the user first opens it, because the dialog needs the form components. */
const KeyRotation = lazy(async () => ({ default: (await import("../keys/key-rotation.js")).KeyRotation }));

/** Lists the problems of the daemon, each with its cause and with actions that can repair it. Hidden if there is no problem. */
export function IncidentList({ incidents, plugins, keys }: Incidents) {
  const [isLong, setLong] = useState(false);
  const [rotated, setRotated] = useState<ApiKey>();
  const { apps, resource } = useApps();
  const { resource: health } = useAppHealth();
  const [refreshApps, refreshHealth] = [resource.refresh, health.refresh];
  const refresh = useCallback(async () => {
    await Promise.all([refreshApps(), refreshHealth()]);
  }, [refreshApps, refreshHealth]);
  const appActions = useAppActions(refresh);
  const pluginActions = usePluginActions(plugins.refresh);
  const { id: ownId } = usePrincipal();
  const may = { change: useMay("workers:install"), plugins: useMay("plugins:install"), rotate: useMay("keys:create") };
  const mayRevoke = useMay("keys:revoke");
  const actionsOf = ({ kind, subject, rollbackTo, keyId }: Incident) => {
    if (kind === "worker") {
      const app = apps.find(({ name }) => name === subject);
      const rollback = app && may.change ? rollbackOf(app, rollbackTo) : undefined;
      return (
        <>
          <ActionLink to={`apps/${subject}/logs`} label={`Logs of ${subject}`}>
            Logs
          </ActionLink>
          {app && rollback && (
            <Button
              aria-label={`Roll back to ${rollback.version}: ${subject}`}
              isPending={appActions.isPending}
              onPress={() => appActions.serve(app, rollback)}
            >
              <Icon name="roll-back" /> Roll back to {rollback.version}
            </Button>
          )}
        </>
      );
    }
    if (kind === "plugin") {
      const plugin = plugins.data?.find(({ name }) => name === subject);
      return (
        <>
          <ActionLink to={detailOf(subject)} label={`Open settings of ${subject}`}>
            Open settings
          </ActionLink>
          {plugin?.enabled && may.plugins && (
            <Button
              aria-label={`Disable ${subject}`}
              isPending={pluginActions.pending === subject}
              onPress={() => void pluginActions.toggle(plugin)}
            >
              Disable
            </Button>
          )}
        </>
      );
    }
    if (kind === "key") {
      const apiKey = keys.data?.find(({ id }) => id === keyId);
      if (!apiKey || !may.rotate || !mayRevoke || apiKey.id === ownId) return null;
      return (
        <Button aria-label={`Rotate ${subject}`} onPress={() => setRotated(apiKey)}>
          Rotate
        </Button>
      );
    }
    if (kind === "instance")
      return (
        <ActionLink to="instances" label="Show instances">
          Show instances
        </ActionLink>
      );
    return (
      <ActionLink to="settings" label="Open settings of the daemon">
        Open settings
      </ActionLink>
    );
  };
  const shown = isLong ? incidents : incidents.slice(0, mostShown);
  // After the rotation, the key is no longer an incident. The dialog stays open, because it shows the secret of the new key.
  const dialog = rotated && (
    <Suspense>
      <KeyRotation apiKey={rotated} onClose={() => setRotated(undefined)} onRotated={keys.refresh} />
    </Suspense>
  );
  if (incidents.length === 0) return dialog;
  return (
    <section className="card incidents" aria-labelledby="overview-attention">
      <h2 id="overview-attention">Needs attention</h2>
      {appActions.error !== undefined && <ErrorMessage title="The change failed" error={appActions.error} onDismiss={appActions.dismiss} />}
      {pluginActions.failure && <ErrorMessage {...pluginActions.failure} />}
      <ul>
        {shown.map((incident) => (
          <li key={`${incident.kind} ${incident.subject} ${incident.keyId ?? ""}`} className="incident">
            <Row incident={incident} />
            <div className="incident-actions">{actionsOf(incident)}</div>
          </li>
        ))}
      </ul>
      {shown.length < incidents.length && (
        <div>
          <Button onPress={() => setLong(true)}>Show all {incidents.length.toLocaleString("en-GB")}</Button>
        </div>
      )}
      {dialog}
    </section>
  );
}

const nouns = { plugin: "plugin", check: "health check", key: "key", instance: undefined } as const;

function Row({ incident }: { incident: Incident }) {
  const { kind, state, subject, version, since, isSinceStart, suspect, reason, error, where } = incident;
  return (
    <>
      <StateDot state={state}>{kind === "key" ? (state === "failing" ? "expired" : "expires") : state}</StateDot>
      <div className="incident-subject">
        <PanelLink to={pageOf(kind, subject)}>{subject}</PanelLink>{" "}
        <span className="quiet">{kind === "worker" ? version : nouns[kind]}</span>
      </div>
      <div className="incident-cause">
        <span>
          {reason}
          {where !== undefined && <span className="quiet"> {where}</span>}
        </span>
        {error !== undefined && <code>{error}</code>}
        {since !== undefined && (isSinceStart === true || suspect !== undefined) && (
          <span className="incident-start quiet small">
            <ProblemStart since={since} isSinceStart={isSinceStart} suspect={suspect} />
          </span>
        )}
      </div>
      <span className="incident-since quiet">{since !== undefined && isSinceStart !== true && <RelativeTime at={since} />}</span>
    </>
  );
}

function pageOf(kind: Incident["kind"], subject: string): string {
  if (kind === "worker") return `apps/${subject}`;
  if (kind === "plugin") return detailOf(subject);
  if (kind === "instance") return "instances";
  return kind === "key" ? "keys" : "settings";
}

function ActionLink({ to, label, children }: { to: string; label: string; children: string }) {
  return (
    <PanelLink to={to} aria-label={label} className="button incident-link">
      {children}
    </PanelLink>
  );
}
