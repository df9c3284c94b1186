import { useState } from "react";
import { describeError, affectedInstances } from "../../../shared/incidents.js";
import type { WorkerHealth } from "../../../shared/contract/worker-health.js";
import { ActionMenu, type MenuEntry } from "../../components/action-menu.js";
import { Badge } from "../../components/badge.js";
import { Button } from "../../components/button.js";
import { CopyButton } from "../../components/copy-button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Icon } from "../../components/icon.js";
import { PageHeading } from "../../components/page-heading.js";
import { Popover } from "../../components/popover.js";
import { ProblemStart } from "../../components/problem-start.js";
import { RelativeTime } from "../../components/relative-time.js";
import { StateDot } from "../../components/state-dot.js";
import { useServedAt } from "../../live/use-served-at.js";
import { useMay } from "../../session/use-principal.js";
import { UploadButtons } from "../../upload/upload-buttons.js";
import type { App } from "./app.js";
import { appMenu, rollbackOf } from "./app-menu.js";
import { appUrl } from "./app-url.js";
import { DeleteApp } from "./delete-app.js";
import { useAppActions } from "./use-app-actions.js";
import { isFailing, useHealthOf } from "./use-app-health.js";

interface AppHeaderProps {
  readonly name: string;
  /** The app. Undefined while the app is loading, or if no such app exists. */
  readonly app: App | undefined;
  readonly onChanged: () => Promise<void>;
}

/** The head of every page of an app: its state with the cause, its URL, and its actions. */
export function AppHeader({ name, app, onChanged }: AppHeaderProps) {
  const resource = useHealthOf(name);
  const health = resource.data?.find((one) => one.name === name);
  const servedAt = useServedAt();
  const refreshHealth = resource.refresh;
  const actions = useAppActions(async () => {
    await Promise.all([onChanged(), refreshHealth()]);
  });
  const may = { change: useMay("workers:install"), restart: useMay("workers:restart") };
  const mayRemove = useMay("workers:remove");
  const [isDeleting, setDeleting] = useState(false);
  if (!app) return <PageHeading title={name} />;
  const rollback = may.change ? rollbackOf(app, health?.rollbackTo) : undefined;
  const isRollbackMain = rollback !== undefined && health !== undefined && isFailing(health);
  const isUploaded = app.versions.some(({ source }) => source === "uploaded");
  const entries: MenuEntry[] = appMenu(app, health?.rollbackTo, { servedAt, actions, may }).filter(({ title }) => !hasButton(title));
  if (mayRemove && isUploaded) entries.push({ title: "Delete app…", icon: "delete", isDanger: true, run: () => setDeleting(true) });
  return (
    <>
      <PageHeading
        title={name}
        note={
          <>
            <StateSentence app={app} health={health} />
            {app.serving && <Address url={new URL(appUrl(servedAt, name), location.href).href} name={name} />}
          </>
        }
      >
        {app.isBuiltIn && <Badge>built-in</Badge>}
        {rollback && (
          <Button kind={isRollbackMain ? "primary" : "plain"} isPending={actions.isPending} onPress={() => actions.serve(app, rollback)}>
            <Icon name="roll-back" /> Roll back to {rollback.version}
          </Button>
        )}
        {may.change && (
          <Popover label="Deploy" button="Deploy" kind={isRollbackMain ? "plain" : "primary"}>
            <p>Choose a folder or an archive, or drop it on this page.</p>
            <UploadButtons permission="workers:install" />
          </Popover>
        )}
        {entries.length > 0 && <ActionMenu label={`Actions of ${name}`} entries={entries} />}
      </PageHeading>
      {actions.error !== undefined && <ErrorMessage title="The change failed" error={actions.error} />}
      {isDeleting && <DeleteApp app={app} version={undefined} onClose={() => setDeleting(false)} onDeleted={onChanged} />}
    </>
  );
}

/** Whether the menu omits an action, because the head of the page shows a button or a tab for it. */
function hasButton(title: string): boolean {
  return title === "Open" || title === "Logs" || title.startsWith("Roll back");
}

function Address({ url, name }: { url: string; name: string }) {
  return (
    <p className="app-address">
      <a href={url} target="_blank" rel="noreferrer">
        {url}
      </a>
      <CopyButton text={url} label={`URL of ${name}`} />
      <a className="app-open" href={url} target="_blank" rel="noreferrer" aria-label={`Open ${name} in a new tab`}>
        Open <Icon name="external" size={14} />
      </a>
    </p>
  );
}

/** The state of an app with the cause, the deployment that probably caused it, and the last error with its position. */
function StateSentence({ app, health }: { app: App; health: WorkerHealth | undefined }) {
  if (!app.serving) return <p>Every version is disabled, so no version is served.</p>;
  const version = <span>Serving {app.serving.version}</span>;
  if (!health) return <p>{version}</p>;
  const { state, since, isSinceStart, reason, lastError, suspect } = health;
  const where = affectedInstances(health);
  const isProblem = state === "failing" || state === "backoff" || state === "degraded";
  return (
    <div className="app-state">
      <p>
        <StateDot state={state} /> · {version}
        {isProblem && (
          <>
            {" "}
            · <ProblemStart since={since} isSinceStart={isSinceStart} suspect={suspect} />
            {isSinceStart !== true && (
              <>
                {suspect ? " · began " : "since "}
                <RelativeTime at={since} />
              </>
            )}
          </>
        )}
      </p>
      {isProblem && reason !== undefined && (
        <p className="app-reason">
          {reason} {where !== undefined && <span className="quiet">{where}</span>}
        </p>
      )}
      {isProblem && lastError && !reason?.includes(describeError(lastError)) && (
        <p>
          Last error, <RelativeTime at={lastError.at} />: <code>{describeError(lastError)}</code>
        </p>
      )}
    </div>
  );
}
