import { PageHeading } from "../components/page-heading.js";
import { EmptyState } from "../components/empty-state.js";
import { PanelLink } from "../router/panel-link.js";
import { usePrincipal } from "../session/use-principal.js";
import { sectionsFor } from "./sections.js";

/** Page for a path that belongs to no section of the panel. */
export function NotFound() {
  const { permissions } = usePrincipal();
  return (
    <>
      <PageHeading title="Page not found" />
      <EmptyState title="The panel has no page at this address">
        Go to{" "}
        {sectionsFor(permissions).map(({ path, title }, index) => (
          <span key={path}>
            {index > 0 && ", "}
            <PanelLink to={path}>{title}</PanelLink>
          </span>
        ))}
        .
      </EmptyState>
    </>
  );
}
