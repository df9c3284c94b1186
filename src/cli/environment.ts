/** The variables that runtimectl reads. Names are fixed; empty counts as unset. */
export const environmentVariables = {
  RUNTIMECTL_PROFILE: "The profile to use, like --profile.",
  RUNTIMECTL_URL: "The origin of the daemon, like --url.",
  RUNTIMECTL_KEY: "The key, for CI. Any program of the same user can read it; prefer a key file.",
  RUNTIMECTL_KEY_FILE: "A file that holds the key, like --key-file.",
  RUNTIMECTL_CACERT: "A file with certificates of a private authority, like --cacert.",
  RUNTIMECTL_TIMEOUT: "How long to wait for the daemon, like --timeout.",
  RUNTIMECTL_OUTPUT: "`json` is like --json.",
  RUNTIMECTL_NO_INPUT: "Set to anything: never ask, like --no-input.",
  RUNTIMECTL_CONFIG_DIR: "The folder of config.yaml and credentials.json; default $XDG_CONFIG_HOME/runtimectl.",
  CI: "Set to anything but false: never ask.",
  NO_COLOR: "Set to anything: no colour.",
  FORCE_COLOR: "0 is no colour. NO_COLOR wins.",
  TERM: "dumb is no colour and no progress bar.",
} as const;

export type VariableName = keyof typeof environmentVariables;
export type Environment = Readonly<Partial<Record<VariableName, string>>>;

/** Takes what runtimectl reads out of the process environment. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const known = Object.keys(environmentVariables).map((name) => [name, variables[name]] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && value !== ""));
}
