import { PageHeading } from "../../components/page-heading.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { AddHost } from "./add-host.js";
import { HostList } from "./host-list.js";

/** Page with the host names of all workers. */
export function Hosts({ rest }: SectionProps) {
  if (rest.length > 0) return <NotFound />;
  return (
    <>
      <PageHeading title="Hosts">
        <AddHost />
      </PageHeading>
      <HostList />
    </>
  );
}
