import { useRoute } from "../../routing/use-route.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { nameIn } from "./plugin-address.js";
import { PluginDetail } from "./plugin-detail.js";
import { PluginFiles } from "./plugin-files.js";
import { PluginList } from "./plugin-list.js";
import { PluginPage } from "./plugin-page.js";

/** What extends the daemon: the list, one plugin, its files, and the pages that plugins bring along. */
export function Plugins({ rest }: SectionProps) {
  const at = useRoute().search.get("at");
  if (rest.length === 0) return <PluginList />;
  const name = nameIn(rest);
  const browsed = rest.at(-1) === "files" ? nameIn(rest.slice(0, -1)) : undefined;
  if (name === undefined) return browsed === undefined ? <NotFound /> : <PluginFiles key={browsed} name={browsed} />;
  return at === null ? <PluginDetail key={name} name={name} /> : <PluginPage key={`${name} ${at}`} name={name} path={at} />;
}
