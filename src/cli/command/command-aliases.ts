/** Aliases of nouns such as `app`, for users of similar tools. Shell completion suggests only the nouns themselves. */
export const nounAliases: Readonly<Record<string, string>> = {
  worker: "workers",
  app: "workers",
  plugin: "plugins",
  key: "keys",
  secret: "secrets",
};

/**
 * Aliases of verbs. Each alias has a list of verbs and selects the first verb in the list that exists for the noun. If the noun has a verb
 * with the name of the alias, the alias is not used.
 */
export const verbAliases: Readonly<Record<string, readonly string[]>> = {
  ls: ["list"],
  list: ["ls"],
  rm: ["delete", "revoke", "remove"],
  delete: ["revoke", "remove", "rm"],
  remove: ["delete", "revoke", "rm"],
};

/** Command names of other tools, each with the runtimectl command that runs instead: noun, verb and first arguments. */
export const commandAliases: Readonly<Record<string, readonly string[]>> = {
  rollback: ["workers", "rollback"],
  list: ["workers", "list"],
  ls: ["workers", "list"],
  ps: ["workers", "list"],
  show: ["workers", "show"],
  logs: ["workers", "logs"],
  log: ["workers", "logs"],
  tail: ["workers", "logs", "--follow"],
  upload: ["workers", "upload"],
  enable: ["workers", "enable"],
  disable: ["workers", "disable"],
  restart: ["workers", "restart"],
  open: ["workers", "open"],
  rm: ["workers", "delete"],
  login: ["auth", "login"],
  logout: ["auth", "logout"],
  whoami: ["auth", "status"],
  top: ["tui"],
  dashboard: ["tui"],
};

const upgradeHint =
  "npm install --global ./runtimectl-VERSION.tgz, with the archive of the new version; docs/how-to/upgrade.md has the steps for a daemon";

/** Hints for command names of other tools. runtimectl has no such commands. */
export const commandHints: Readonly<Record<string, string>> = {
  env: "runtimectl secrets set NAME VARIABLE; for values that are not secret, env in manifest.yaml",
  publish: "runtimectl deploy",
  run: "runtimectl dev DIR",
  serve: "runtimectl dev DIR",
  update: upgradeHint,
  upgrade: upgradeHint,
  delete: "runtimectl workers delete NAME",
  destroy: "runtimectl workers delete NAME",
  start: "runtimectl workers enable NAME@VERSION",
  stop: "runtimectl workers disable NAME@VERSION",
  kill: "runtimectl workers restart NAME",
  reload: "runtimectl workers restart NAME; plugins: runtimectl plugins reload",
  scale: "set the number of isolates of a worker with instances in its manifest.yaml",
  releases: "runtimectl workers show NAME",
  versions: "runtimectl workers show NAME",
  inspect: "runtimectl workers show NAME",
  describe: "runtimectl workers show NAME",
  info: "runtimectl workers show NAME",
  apps: "runtimectl workers list",
  metrics: "runtimectl workers stats",
  monit: "runtimectl tui",
  health: "runtimectl status",
  launch: "runtimectl init DIR, then runtimectl deploy DIR",
  push: "runtimectl deploy",
  config: "runtimectl profile list; the daemon's settings are environment variables",
};

/** Hints for verbs of other tools, by noun and verb. */
export const verbHints: Readonly<Record<string, string>> = {
  "files cat": "runtimectl files get REMOTE -",
  "files edit": "runtimectl files get REMOTE FILE, then runtimectl files put FILE FOLDER",
};

/** Hints for options of other tools, by command. The entry `""` applies to all commands. */
export const optionHints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deploy: {
    "--all": 'deploy accepts one folder: for folder in apps/*/; do runtimectl deploy "$folder"; done',
    "--env": "set variables of a worker under env in its manifest.yaml, secrets with runtimectl secrets set",
    "--force": "runtimectl deploy --replace overwrites an existing version",
  },
  events: {
    "-f": "remove -f: events streams new events until Ctrl-C",
    "--follow": "remove --follow: events streams new events until Ctrl-C",
  },
  "workers logs": {
    "--tail": "runtimectl workers logs <name> --limit <count>",
    "--lines": "runtimectl workers logs <name> --limit <count>",
    "-n": "runtimectl workers logs <name> --limit <count>",
  },
  "": {
    "--force": "use --yes to skip the confirmation",
    "-f": "-f is an option of logs and audit; to skip a confirmation, use --yes",
    "--key": "keys are not accepted on the command line: use --key-file FILE or RUNTIMECTL_KEY",
  },
};
