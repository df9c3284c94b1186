import { useRoute } from "../../router/use-route.js";
import { DropArea } from "../../upload/drop-area.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { nameIn } from "./plugin-address.js";
import { PluginDetail } from "./plugin-detail.js";
import { PluginFiles } from "./plugin-files.js";
import { PluginList } from "./plugin-list.js";
import { PluginPage } from "./plugin-page.js";
import { usePluginTarget } from "./use-plugin-target.js";

/** Section with the list of plugins, and the details, files and pages of each plugin. */
export function Plugins({ rest }: SectionProps) {
  const at = useRoute().search.get("at");
  const target = usePluginTarget();
  const name = nameIn(rest);
  const browsed = rest.at(-1) === "files" ? nameIn(rest.slice(0, -1)) : undefined;
  // The file browser handles dropped files itself and uploads them into the displayed folder.
  if (browsed !== undefined) return <PluginFiles key={browsed} name={browsed} />;
  if (rest.length > 0 && name === undefined) return <NotFound />;
  return (
    <DropArea target={target}>
      {name === undefined && <PluginList />}
      {name !== undefined && at === null && <PluginDetail key={name} name={name} />}
      {name !== undefined && at !== null && <PluginPage key={`${name} ${at}`} name={name} path={at} />}
    </DropArea>
  );
}
