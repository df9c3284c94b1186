import { ErrorMessage } from "../../components/error-message.js";
import { PageHeading } from "../../components/page-heading.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { hostOperations } from "./host-operations.js";

/** Page that shows which worker a host name serves, at the path `/cpanel/host/shop.example.org`. */
export function HostPage({ rest: [host = "", ...more] }: SectionProps) {
  const api = useApi(hostOperations);
  const isWanted = useMay("workers:read") && host !== "";
  const { data, error } = useResource(`host ${host}`, () => api.hosts.show({ params: { host } }), { isWanted });
  if (more.length > 0) return <NotFound />;
  return (
    <>
      <PageHeading title="Host" />
      {error !== undefined && <ErrorMessage title={`${host} could not be read`} error={error} />}
      {data && (
        <p>
          {data.host} leads to {data.worker}.
        </p>
      )}
    </>
  );
}
