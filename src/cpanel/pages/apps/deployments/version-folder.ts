import { useRoots } from "../../files/use-roots.js";
import { isBuiltInMount } from "../../files/package-ref.js";
import type { App } from "../app.js";

/** Returns a function that finds the folder of an uploaded version in the files API. Undefined until the folders of the app are known. */
export function useVersionFolder(app: App): (version: string) => string | undefined {
  const roots = useRoots({ kind: "workers", name: app.name, isBuiltIn: app.isBuiltIn, page: `apps/${app.name}/files` });
  const root = roots.data?.find((path) => !isBuiltInMount(path));
  return (version) => (root === undefined ? undefined : `${root}/${version}`);
}
