import { Suspense } from "react";
import { ResourceDetail } from "../../components/resource-detail.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { PageTabs } from "../../components/page-tabs.js";
import { EmptyState } from "../../components/empty-state.js";
import { PanelLink } from "../../router/panel-link.js";
import { NotFound } from "../not-found.js";
import { AppHeader } from "./app-header.js";
import { appTabs, tabPath } from "./app-tabs.js";
import { useApps } from "./use-apps.js";

/** Shows one app: its state, its URL, and the tab that the path names. */
export function AppPage({ name, view }: { name: string; view: string }) {
  const { resource, apps } = useApps();
  const app = apps.find((candidate) => candidate.name === name);
  const tab = appTabs.find(({ id }) => id === view);
  if (!tab) return <NotFound />;
  const View = tab.view;
  return (
    <>
      <AppHeader name={name} app={app} onChanged={resource.refresh} />
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
            <PageTabs
              label={`Pages of ${name}`}
              tabs={appTabs.map(({ id, title }) => ({ to: tabPath(name, id), title, isCurrent: id === view }))}
            />
            <Suspense fallback={<LoadingRows noun="page" />}>
              <View app={shown} onChanged={resource.refresh} />
            </Suspense>
          </>
        )}
      </ResourceDetail>
    </>
  );
}
