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
      use: { summary: "Make a profile the current one" },
      add: { summary: "Add or change a profile" },
      rm: { summary: "Remove a profile and its key" },
    },
  },
  status: { summary: "Show the daemon's health, and what is installed" },
  dev: { summary: "Serve a folder on this machine, again after each change" },
  workers: {
    summary: "Upload and manage workers",
    verbs: {
      list: { summary: "List the installed workers" },
      stats: { summary: "Show load, times, errors and memory of the workers" },
      upload: { summary: "Upload a folder or an archive, and serve it" },
      logs: { summary: "Read what a worker wrote, or follow it" },
      enable: { summary: "Serve a version again" },
      disable: { summary: "Stop serving a version, keep it installed" },
      restart: { summary: "Have fresh isolates answer for a worker" },
      delete: { summary: "Delete a worker or one version of it" },
    },
  },
  plugins: {
    summary: "Upload and manage plugins",
    verbs: {
      list: { summary: "List the installed plugins, and what became of each" },
      loaded: { summary: "List the plugins that are at work, in the order of their hooks" },
      upload: { summary: "Upload a folder or an archive, and load it" },
      reload: { summary: "Load all plugins anew" },
      enable: { summary: "Let a plugin take part again" },
      disable: { summary: "Take a plugin out of service, keep it installed" },
      delete: { summary: "Delete a plugin" },
    },
  },
  keys: {
    summary: "Create and revoke API keys",
    verbs: {
      list: { summary: "List the keys" },
      create: { summary: "Create a key; it is shown once" },
      revoke: { summary: "Revoke a key for good" },
      meta: { summary: "List the roles and what each may do" },
    },
  },
  api: { summary: "Call the API directly, signed in" },
  help: { summary: "Show help on a command or a topic" },
};

export function isNoun(entry: CommandEntry | NounEntry): entry is NounEntry {
  return "verbs" in entry;
}
