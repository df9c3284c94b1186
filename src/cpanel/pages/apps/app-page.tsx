import { Badge } from "../../components/badge.js";
import { ResourceDetail } from "../../components/resource-detail.js";
import { PageTabs } from "../../components/page-tabs.js";
import { PageHeading } from "../../components/page-heading.js";
import { EmptyState } from "../../components/empty-state.js";
import { LazyFileBrowser } from "../files/lazy-file-browser.js";
import { useServedAt } from "../../live/use-served-at.js";
import { PanelLink } from "../../router/panel-link.js";
import { NotFound } from "../not-found.js";
import { AppFigures } from "./app-figures.js";
import { appUrl } from "./app-url.js";
import { AppVersions } from "./app-versions.js";
import { LogView } from "./logs/log-view.js";
import { SecretList } from "./secrets/secret-list.js";
import { useApps } from "./use-apps.js";

const views = [
  { id: "versions", title: "Versions" },
  { id: "logs", title: "Logs" },
  { id: "files", title: "Files" },
  { id: "secrets", title: "Secrets" },
] as const;

/** Shows one app: the active version, figures, versions, logs, files and secrets. */
export function AppPage({ name, view }: { name: string; view: string }) {
  const servedAt = useServedAt();
  const { resource, apps } = useApps();
  const app = apps.find((candidate) => candidate.name === name);
  if (!views.some(({ id }) => id === view)) return <NotFound />;
  return (
    <>
      <PageHeading
        title={name}
        {...(app ? { note: app.serving ? <>Serving {app.serving.version}</> : "Every version is disabled, so no version is served." } : {})}
      >
        {app?.isBuiltIn && <Badge>built-in</Badge>}
        {app?.serving && (
          <a className="app-open" href={appUrl(servedAt, name)} target="_blank" rel="noreferrer">
            Open {appUrl(servedAt, name)}
          </a>
        )}
      </PageHeading>
      <ResourceDetail
        noun="app"
        permission="workers:read"
        resource={resource}
        one={app}
        empty={
          <EmptyState title={`No app named ${name} is installed`}>
            It was deleted, or this key has no access to its namespace. All apps: <PanelLink to="apps">Apps</PanelLink>.
          </EmptyState>
        }
      >
        {(shown) => (
          <>
            <AppFigures name={name} />
            <PageTabs
              label={`Pages of ${name}`}
              tabs={views.map(({ id, title }) => ({
                to: id === "versions" ? `apps/${name}` : `apps/${name}/${id}`,
                title,
                isCurrent: id === view,
              }))}
            />
            {view === "versions" && <AppVersions app={shown} onChanged={resource.refresh} />}
            {view === "logs" && <LogView app={shown} />}
            {view === "secrets" && <SecretList app={name} />}
            {view === "files" && <LazyFileBrowser of={{ kind: "workers", name, isBuiltIn: shown.isBuiltIn, page: `apps/${name}/files` }} />}
          </>
        )}
      </ResourceDetail>
    </>
  );
}
