import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { AppList } from "./app-list.js";
import { AppPage } from "./app-page.js";
import { appTabs } from "./app-tabs.js";
import { DropArea } from "../../upload/drop-area.js";
import { useAppTarget } from "./use-app-target.js";
import "./apps.css";

/** Section with the list of apps and a page for each app. The namespace is a separate path segment, as in `apps/@team/shop/logs`. */
export function Apps({ rest }: SectionProps) {
  const target = useAppTarget();
  const nameSegments = rest[0]?.startsWith("@") ? 2 : 1;
  const [view = appTabs[0]?.id ?? "", ...others] = rest.slice(nameSegments);
  if (others.length > 0 || (rest.length === 1 && nameSegments === 2)) return <NotFound />;
  if (rest.length === 0)
    return (
      <DropArea target={target}>
        <AppList />
      </DropArea>
    );
  const name = rest.slice(0, nameSegments).join("/");
  const page = <AppPage key={name} name={name} view={view} />;
  // The file browser handles dropped files itself and uploads them into the displayed folder.
  return view === "files" ? page : <DropArea target={target}>{page}</DropArea>;
}
