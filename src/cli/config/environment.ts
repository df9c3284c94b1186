/** The variables that runtimectl reads. Names are fixed; empty counts as unset. */
export const environmentVariables = {
  RUNTIMECTL_PROFILE: "The profile to use, like --profile.",
  RUNTIMECTL_URL: "The origin of the daemon, like --url.",
  RUNTIMECTL_KEY: "The key, for CI. Any program of the same user can read it; prefer a key file.",
  RUNTIMECTL_KEY_FILE: "A file that holds the key, like --key-file.",
  RUNTIMECTL_CACERT: "A file with certificates of a private authority, like --cacert.",
  RUNTIMECTL_TIMEOUT: "How long to wait for the daemon, like --timeout.",
  RUNTIMECTL_OUTPUT: "`json` is like --json, `plain` like --plain; `table` is an aligned table in a pipe, too.",
  RUNTIMECTL_OUTPUT_FILE: "A file to which each result and each failure is added as a line of JSON. Keys are left out.",
  RUNTIMECTL_NO_INPUT: "Set to anything: never ask, like --no-input.",
  RUNTIMECTL_DEBUG: "Set to anything: like -vv, and the stack of a failure.",
  RUNTIMECTL_CONFIG_DIR: "The folder of config.yaml and credentials.json; default $XDG_CONFIG_HOME/runtimectl.",
  HTTPS_PROXY:
    "The HTTP proxy on the way to https origins, such as http://proxy.example:3128; https_proxy wins. http origins are reached directly.",
  https_proxy: "Like HTTPS_PROXY.",
  NO_PROXY: "Hosts that are reached without a proxy: names with all that end in them, between commas; * is all. no_proxy wins.",
  no_proxy: "Like NO_PROXY.",
  CI: "Set to anything but false: never ask.",
  NO_COLOR: "Set to anything: no colour.",
  FORCE_COLOR: "Colour without a terminal, too; 0 is no colour. NO_COLOR wins.",
  GITHUB_ACTIONS: "Set by GitHub: a new key is masked in its log before it is shown.",
  GITHUB_OUTPUT: "Set by GitHub: `deploy` adds url, version and digest to this file.",
  GITHUB_STEP_SUMMARY: "Set by GitHub: `deploy` adds a table to this file.",
  INK_SCREEN_READER: "true is like `tui --accessible`.",
  DISPLAY: "Set on a desktop, like WAYLAND_DISPLAY: `workers open` starts a browser.",
  WAYLAND_DISPLAY: "Like DISPLAY.",
  TERM: "dumb is no colour and no progress bar.",
  COLUMNS: "How wide tables may be; default the terminal's width.",
} as const;

export type VariableName = keyof typeof environmentVariables;
export type Environment = Readonly<Partial<Record<VariableName, string>>>;

/** Takes what runtimectl reads out of the process environment. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const known = Object.keys(environmentVariables).map((name) => [name, variables[name]] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && value !== ""));
}
