import { PageHeading } from "../../components/page-heading.js";
import { LazyFileBrowser } from "../files/lazy-file-browser.js";
import { PanelLink } from "../../router/panel-link.js";
import { OnePlugin } from "./one-plugin.js";
import { detailOf, filesOf } from "./plugin-address.js";
import { usePlugins } from "./use-plugins.js";

/** Page with the uploaded files of a plugin. For a built-in plugin, the page shows the manifest that overrides the plugin's settings. */
export function PluginFiles({ name }: { name: string }) {
  const plugins = usePlugins();
  return (
    <>
      <PageHeading title={`Files of ${name}`} note={<PanelLink to={detailOf(name)}>{name}</PanelLink>} />
      <OnePlugin name={name} plugins={plugins}>
        {({ plugin }) => (
          <LazyFileBrowser key={plugin.name} of={{ kind: "plugins", name, isBuiltIn: !plugin.removable, page: filesOf(name) }} />
        )}
      </OnePlugin>
    </>
  );
}
