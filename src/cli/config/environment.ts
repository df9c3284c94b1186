/** The names and meanings of the environment variables that runtimectl reads. A variable with an empty value counts as not set. */
export const environmentVariables = {
  RUNTIMECTL_PROFILE: "The profile to use, like --profile.",
  RUNTIMECTL_URL: "The origin of the daemon, like --url.",
  RUNTIMECTL_KEY: "The key, for CI. Any program of the same user can read this variable; prefer a key file.",
  RUNTIMECTL_KEY_FILE: "A file that contains the key, like --key-file.",
  RUNTIMECTL_CACERT: "A PEM file with the certificates of a private authority, like --cacert.",
  RUNTIMECTL_TIMEOUT: "Time limit for a response of the daemon, like --timeout.",
  RUNTIMECTL_OUTPUT: "`json` is like --json, `plain` is like --plain, `table` prints aligned tables also in a pipe.",
  RUNTIMECTL_OUTPUT_FILE: "A file to which runtimectl appends each result and each error as a line of JSON, without keys.",
  RUNTIMECTL_NO_INPUT: "Any value: never prompt, like --no-input.",
  RUNTIMECTL_DEBUG: "Any value: like -vv, plus the stack trace of an error.",
  RUNTIMECTL_CONFIG_DIR: "The folder of config.yaml and credentials.json (default: $XDG_CONFIG_HOME/runtimectl).",
  HTTPS_PROXY:
    "The HTTP proxy for https origins, such as http://proxy.example:3128. https_proxy wins. Connections to http origins are direct.",
  https_proxy: "Like HTTPS_PROXY.",
  NO_PROXY: "Hosts without a proxy, separated by commas. A name includes its subdomains; * matches all hosts. no_proxy wins.",
  no_proxy: "Like NO_PROXY.",
  CI: "Any value except false: never prompt.",
  NO_COLOR: "Any value: no color.",
  FORCE_COLOR: "Any value: color also without a terminal. 0: no color. NO_COLOR wins.",
  GITHUB_ACTIONS: "Set by GitHub: runtimectl masks a new key in the workflow log.",
  GITHUB_OUTPUT: "Set by GitHub: `deploy` appends url, version and digest to this file.",
  GITHUB_STEP_SUMMARY: "Set by GitHub: `deploy` appends a table to this file.",
  INK_SCREEN_READER: "true: like `tui --accessible`.",
  DISPLAY: "Set on a desktop: `workers open` starts a browser.",
  WAYLAND_DISPLAY: "Like DISPLAY.",
  TERM: "dumb: no color and no progress bar.",
  COLUMNS: "Maximum width of tables (default: the width of the terminal).",
} as const;

export type VariableName = keyof typeof environmentVariables;
export type Environment = Readonly<Partial<Record<VariableName, string>>>;

/** Returns those variables of `environmentVariables` that are set in the environment of the process. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const known = Object.keys(environmentVariables).map((name) => [name, variables[name]] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && value !== ""));
}
