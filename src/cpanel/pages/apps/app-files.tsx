import { LazyFileBrowser } from "../files/lazy-file-browser.js";
import type { AppTabProps } from "./app-tabs.js";

/** Tab with the files of all versions of an app. */
export function AppFiles({ app: { name, isBuiltIn } }: AppTabProps) {
  return <LazyFileBrowser of={{ kind: "workers", name, isBuiltIn, page: `apps/${name}/files` }} />;
}
