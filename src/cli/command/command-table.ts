export interface CommandEntry {
  /** One line, imperative. */
  readonly summary: string;
}

export interface NounEntry {
  readonly summary: string;
  readonly verbs: Readonly<Record<string, CommandEntry>>;
}

/** Every command, in the order of help; command-modules.ts has what each does. */
export const commandTable: Readonly<Record<string, CommandEntry | NounEntry>> = {
  auth: {
    summary: "Sign in to a daemon",
    verbs: {
      login: { summary: "Check a key and keep it in a profile" },
      logout: { summary: "Forget the key of a profile" },
      status: { summary: "Show who you are, and where each setting comes from" },
    },
  },
  profile: {
    summary: "Keep several daemons apart",
    verbs: {
      list: { summary: "List the profiles" },
      show: { summary: "Show the settings of a profile" },
      use: { summary: "Make a profile the current one" },
      add: { summary: "Add or change a profile" },
      set: { summary: "Change settings of a profile" },
      rm: { summary: "Remove a profile and its key" },
    },
  },
  status: { summary: "Show the daemon's health, and what is installed" },
  tui: { summary: "Watch and manage the daemon in a full-screen dashboard" },
  doctor: { summary: "Find out what is wrong between here and the daemon" },
  dev: { summary: "Serve a folder on this machine, again after each change" },
  deploy: { summary: "Pack, upload and check a worker or a plugin" },
  pack: { summary: "Write the archive that an upload would send" },
  validate: { summary: "Look for what a daemon would refuse, without one" },
  init: { summary: "Begin a worker or a plugin" },
  workers: {
    summary: "Upload and manage workers",
    verbs: {
      list: { summary: "List the installed workers" },
      show: { summary: "Show a worker: versions, which one answers and where, load" },
      stats: { summary: "Show load, times, errors and memory of the workers" },
      upload: { summary: "Upload a folder or an archive, and serve it" },
      logs: { summary: "Read what a worker wrote, or follow it" },
      enable: { summary: "Serve a version again" },
      disable: { summary: "Stop serving a version, keep it installed" },
      rollback: { summary: "Let an earlier version answer again, once it is seen to work" },
      restart: { summary: "Have fresh isolates answer for a worker" },
      open: { summary: "Print a worker's URL, and show it in the browser" },
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
  plugins: {
    summary: "Upload and manage plugins",
    verbs: {
      list: { summary: "List the installed plugins, and what became of each" },
      show: { summary: "Show a plugin: state and why, base, dependencies, menus" },
      loaded: { summary: "List the plugins that are at work, in the order of their hooks" },
      upload: { summary: "Upload a folder or an archive, and load it" },
      reload: { summary: "Load all plugins again" },
      enable: { summary: "Let a plugin take part again" },
      disable: { summary: "Take a plugin out of service, keep it installed" },
      delete: { summary: "Delete a plugin" },
    },
  },
  files: {
    summary: "Look at the files of installed packages, and change them",
    verbs: {
      ls: { summary: "List a folder on the server" },
      get: { summary: "Download a file, or a folder as a zip" },
      put: { summary: "Upload files and folders into a package" },
      mkdir: { summary: "Make a folder in a package" },
      mv: { summary: "Move or rename a file or folder" },
      rm: { summary: "Delete files and folders" },
    },
  },
  keys: {
    summary: "Create, rotate and revoke API keys",
    verbs: {
      list: { summary: "List the keys" },
      show: { summary: "Show a key: what it may do, and until when" },
      create: { summary: "Create a key; it is shown once" },
      rotate: { summary: "Put a twin in a key's place; the old one ends after a while" },
      revoke: { summary: "Revoke keys for good" },
      meta: { summary: "List the roles and what each may do" },
    },
  },
  events: { summary: "Watch what happens: changes, and workers that crash" },
  audit: { summary: "Show who changed what, from where, and who was refused" },
  daemon: {
    summary: "Run the daemon of this machine as a service",
    verbs: {
      install: { summary: "Have systemd run the daemon, and hold its address" },
      uninstall: { summary: "Take the daemon out of systemd again; what it stores stays" },
      status: { summary: "Show the service, and whether the daemon is ready" },
      backup: { summary: "Write keys and uploaded packages to a file, while the daemon runs" },
      restore: { summary: "Put a backup in the place of keys and uploaded packages" },
      "migrate-keys": { summary: "Move the keys to a libSQL server that several daemons share" },
    },
  },
  api: { summary: "Call the API directly, signed in" },
  completion: { summary: "Print a script that completes commands and names in your shell" },
  help: { summary: "Show help on a command or a topic" },
};

export function isNoun(entry: CommandEntry | NounEntry): entry is NounEntry {
  return "verbs" in entry;
}
