export interface CommandEntry {
  /** Description of the command for the help: one line in the imperative, at most 60 characters. */
  readonly summary: string;
}

export interface NounEntry {
  readonly summary: string;
  readonly verbs: Readonly<Record<string, CommandEntry>>;
}

/** Every command, in the order in which the help lists commands. The implementations are in command-registry.ts. */
export const commandTable: Readonly<Record<string, CommandEntry | NounEntry>> = {
  auth: {
    summary: "Sign in to a daemon",
    verbs: {
      login: { summary: "Check a key and store it in a profile" },
      logout: { summary: "Delete the stored key of a profile" },
      status: { summary: "Show who you are and where each setting comes from" },
    },
  },
  profile: {
    summary: "Manage connection profiles",
    verbs: {
      list: { summary: "List the profiles" },
      show: { summary: "Show the settings of a profile" },
      use: { summary: "Set the current profile" },
      add: { summary: "Add or change a profile" },
      set: { summary: "Change settings of a profile" },
      rm: { summary: "Remove a profile and its key" },
    },
  },
  status: { summary: "Show the daemon's health and the installed packages" },
  settings: { summary: "Show the daemon's variables, directories and isolation" },
  tui: { summary: "Manage the daemon in a full-screen dashboard" },
  doctor: { summary: "Diagnose the connection to the daemon" },
  dev: { summary: "Serve a folder locally and reload it on each change" },
  deploy: { summary: "Pack, upload and check a worker or a plugin" },
  pack: { summary: "Create the archive that an upload would send" },
  validate: { summary: "Check a package without a daemon" },
  init: { summary: "Create a worker or plugin from a template" },
  workers: {
    summary: "Upload and manage workers",
    verbs: {
      list: { summary: "List the installed workers" },
      show: { summary: "Show a worker's versions, active version, URLs and load" },
      health: { summary: "Show which workers have a problem, since when and why" },
      stats: { summary: "Show request rates, latency, errors and memory of workers" },
      history: { summary: "Show requests, errors and deployments of the last 14 days" },
      upload: { summary: "Upload a folder or an archive and serve it" },
      config: { summary: "Show or change the configuration of a version" },
      logs: { summary: "Show or stream the log of a worker" },
      enable: { summary: "Enable a version" },
      disable: { summary: "Disable a version without deleting it" },
      rollback: { summary: "Activate an earlier version after a health check" },
      restart: { summary: "Replace the isolates of a worker" },
      open: { summary: "Print a worker's URL and open it in the browser" },
      delete: { summary: "Delete a worker or one version of it" },
    },
  },
  hosts: {
    summary: "Give workers host names of their own",
    verbs: {
      list: { summary: "List the host names, and those that manifests ask for" },
      add: { summary: "Let a host name lead to a worker" },
      remove: { summary: "Let a host name lead to no worker any more" },
      check: { summary: "Check the DNS, the certificate and the worker of a host name" },
    },
  },
  secrets: {
    summary: "Manage secrets of workers and namespaces",
    verbs: {
      list: { summary: "List the secrets of a worker or a namespace, without values" },
      set: { summary: "Set a secret from a prompt, a file or standard input" },
      import: { summary: "Set the variables of a .env file as secrets" },
      remove: { summary: "Remove a secret" },
      "rotate-key": { summary: "Encrypt all secrets with a new key" },
    },
  },
  data: {
    summary: "Manage the data folders of workers",
    verbs: {
      list: { summary: "List the data folders with their sizes and limits" },
      get: { summary: "Download a copy of a data folder as a zip" },
      remove: { summary: "Delete a data folder" },
    },
  },
  cron: {
    summary: "Watch and run the scheduled jobs of workers",
    verbs: {
      list: { summary: "List the jobs with their next and last runs" },
      run: { summary: "Run a job now and wait for its end" },
    },
  },
  isolates: {
    summary: "Watch and stop the processes of workers",
    verbs: {
      list: { summary: "List the processes with their requests, memory and CPU time" },
      stop: { summary: "Complete the requests of a process, then end it" },
    },
  },
  instances: {
    summary: "Watch and drain the daemons with the same primary",
    verbs: {
      list: { summary: "List the daemons with their addresses and states" },
      drain: { summary: "Take a daemon out of service before an upgrade" },
    },
  },
  plugins: {
    summary: "Upload and manage plugins",
    verbs: {
      list: { summary: "List the installed plugins and their states" },
      show: { summary: "Show a plugin's state, base, dependencies and menus" },
      loaded: { summary: "List the loaded plugins in the order of their hooks" },
      upload: { summary: "Upload a folder or an archive and load it" },
      config: { summary: "Show or change the settings of a plugin" },
      reload: { summary: "Reload all plugins" },
      enable: { summary: "Enable a plugin" },
      disable: { summary: "Disable a plugin without deleting it" },
      delete: { summary: "Delete a plugin" },
    },
  },
  files: {
    summary: "Manage the files of installed packages",
    verbs: {
      ls: { summary: "List a folder on the server" },
      get: { summary: "Download a file, or a folder as a zip" },
      put: { summary: "Upload files and folders into a package" },
      mkdir: { summary: "Create a folder in a package" },
      mv: { summary: "Move or rename a file or folder" },
      rm: { summary: "Delete files and folders" },
    },
  },
  keys: {
    summary: "Create, rotate and revoke API keys",
    verbs: {
      list: { summary: "List the keys" },
      show: { summary: "Show a key's permissions and expiry" },
      create: { summary: "Create a key and show it once" },
      rotate: { summary: "Replace a key; the old key expires after a grace period" },
      revoke: { summary: "Revoke keys permanently" },
      meta: { summary: "List the roles and their permissions" },
    },
  },
  events: { summary: "Stream changes and worker crashes" },
  audit: { summary: "Show changes and rejected attempts, with user and address" },
  daemon: {
    summary: "Run the daemon on this machine as a service",
    verbs: {
      install: { summary: "Install the daemon as a systemd service" },
      uninstall: { summary: "Remove the systemd service and keep the stored data" },
      status: { summary: "Show the service and the daemon's readiness" },
      backup: { summary: "Back up keys and uploaded packages to a file" },
      restore: { summary: "Replace keys and uploaded packages with a backup" },
      resync: { summary: "Decide which rows are valid after a restored primary" },
      "migrate-keys": { summary: "Move the keys to a shared libSQL server" },
      "migrate-packages": { summary: "Move packages from the disk to an OCI registry" },
    },
  },
  api: { summary: "Send an authenticated request to the API" },
  completion: { summary: "Print a shell completion script" },
  help: { summary: "Show help on a command or a topic" },
};

export function isNoun(entry: CommandEntry | NounEntry): entry is NounEntry {
  return "verbs" in entry;
}
