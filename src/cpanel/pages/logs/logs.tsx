import { useMemo } from "react";
import { PageHeading } from "../../components/page-heading.js";
import { useMay } from "../../session/use-principal.js";
import { EmptyState } from "../../components/empty-state.js";
import { useApps } from "../apps/use-apps.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { LogView } from "./log-view.js";

/** Page with the logs of all apps that the key is allowed to see. */
export function Logs({ rest }: SectionProps) {
  const mayRead = useMay("workers:read");
  const { resource, apps } = useApps();
  const names = useMemo(() => apps.map(({ name }) => name), [apps]);
  if (rest.length > 0) return <NotFound />;
  return (
    <>
      <PageHeading title="Logs" />
      {!mayRead && <EmptyState title="This key is not allowed to see logs">It lacks the permission workers:read.</EmptyState>}
      {mayRead && (resource.data !== undefined || resource.error !== undefined) && <LogView appNames={names} />}
    </>
  );
}
