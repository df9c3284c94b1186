import { homedir, tmpdir } from "node:os";
import path from "node:path";

/** The environment variables of a process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The folders of the user who runs the command. */
export interface UserDirectories {
  readonly home: string;
  /** The folder of config.yaml and credentials.json. */
  readonly config: string;
  readonly cache: string;
  /** The folder in which commands create temporary folders. */
  readonly temporary: string;
}

const name = "runtimectl";

/** Returns the user's folders. On Linux, follows the XDG Base Directory Specification 0.8. */
export function userDirectories(variables: Variables): UserDirectories {
  const isWindows = process.platform === "win32";
  const home = variables[isWindows ? "USERPROFILE" : "HOME"] || homedir();
  const { config, cache } = platformDirectories(home, variables);
  return {
    home,
    config: variables["RUNTIMECTL_CONFIG_DIR"] || config,
    cache,
    temporary: (!isWindows && variables["TMPDIR"]) || tmpdir(),
  };
}

function platformDirectories(home: string, variables: Variables): { readonly config: string; readonly cache: string } {
  if (process.platform === "darwin")
    return { config: path.join(home, "Library/Preferences", name), cache: path.join(home, "Library/Caches", name) };
  if (process.platform === "win32")
    return {
      config: path.join(variables["APPDATA"] || path.join(home, "AppData/Roaming"), name, "Config"),
      cache: path.join(variables["LOCALAPPDATA"] || path.join(home, "AppData/Local"), name, "Cache"),
    };
  return {
    config: path.join(variables["XDG_CONFIG_HOME"] || path.join(home, ".config"), name),
    cache: path.join(variables["XDG_CACHE_HOME"] || path.join(home, ".cache"), name),
  };
}
