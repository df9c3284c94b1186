/** Other words for nouns, for fingers that know them from elsewhere. Help, completion and suggestions name the nouns themselves. */
export const nounAliases: Readonly<Record<string, string>> = { worker: "workers", app: "workers", plugin: "plugins", key: "keys" };

/** Other words for verbs: each stands for the first of these that the noun has, unless the noun has a verb of that name itself. */
export const verbAliases: Readonly<Record<string, readonly string[]>> = { ls: ["list"], rm: ["delete", "revoke"] };

/** Words of other tools that stand for a command, and for what is given to it first. */
export const commandAliases: Readonly<Record<string, readonly string[]>> = {
  rollback: ["workers", "rollback"],
  list: ["workers", "list"],
  ps: ["workers", "list"],
  logs: ["workers", "logs"],
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

/** What to do instead, for words of other tools that stand for no command here. */
export const commandHints: Readonly<Record<string, string>> = {
  env: "the variables of a worker are the key env of its manifest.yaml",
  secret: "the variables of a worker are the key env of its manifest.yaml; there is no store for secrets yet",
  secrets: "the variables of a worker are the key env of its manifest.yaml; there is no store for secrets yet",
  publish: "runtimectl deploy",
  update: "npm install --global runtimectl@latest",
  upgrade: "npm install --global runtimectl@latest",
  delete: "runtimectl workers delete NAME",
  destroy: "runtimectl workers delete NAME",
  start: "runtimectl workers enable NAME@VERSION",
  stop: "runtimectl workers disable NAME@VERSION",
  kill: "runtimectl workers restart NAME",
  reload: "runtimectl workers restart NAME; plugins: runtimectl plugins reload",
  scale: "the number of isolates of a worker is the key instances of its manifest.yaml",
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

/** What to write instead, for options of other tools that a command lacks; by the command's words, then for all commands. */
export const optionHints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deploy: {
    "--all": 'deploy takes one folder: for folder in apps/*/; do runtimectl deploy "$folder"; done',
    "--env": "the variables of a worker are the key env of its manifest.yaml",
    "--force": "runtimectl deploy --replace overwrites a version that is there",
  },
  "workers logs": {
    "--tail": "runtimectl workers logs <name> --limit <count>",
    "--lines": "runtimectl workers logs <name> --limit <count>",
  },
  "": {
    "--force": "--yes answers the question in advance",
    "-f": "--yes answers the question in advance",
    "--key": "keys are not taken from the command line: use --key-file FILE or RUNTIMECTL_KEY",
  },
};
