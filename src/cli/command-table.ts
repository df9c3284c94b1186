import type { CommandDefinition } from "./command.js";

export interface CommandEntry {
  /** One line, imperative. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: CommandDefinition }>;
}

export interface NounEntry {
  readonly summary: string;
  readonly verbs: Readonly<Record<string, CommandEntry>>;
}

/** Every command, in the order of help. A command's module is loaded only when that command runs. */
export const commandTable: Readonly<Record<string, CommandEntry | NounEntry>> = {
  auth: {
    summary: "Sign in to a daemon",
    verbs: {
      login: { summary: "Check a key and keep it in a profile", load: () => import("./commands/auth/login.js") },
      logout: { summary: "Forget the key of a profile", load: () => import("./commands/auth/logout.js") },
      status: { summary: "Show who you are, and where each setting comes from", load: () => import("./commands/auth/status.js") },
    },
  },
  profile: {
    summary: "Keep several daemons apart",
    verbs: {
      list: { summary: "List the profiles", load: () => import("./commands/profile/list.js") },
      use: { summary: "Make a profile the current one", load: () => import("./commands/profile/use.js") },
      add: { summary: "Add or change a profile", load: () => import("./commands/profile/add.js") },
      rm: { summary: "Remove a profile and its key", load: () => import("./commands/profile/rm.js") },
    },
  },
  status: { summary: "Show the daemon's health, and what is installed", load: () => import("./commands/status.js") },
  workers: {
    summary: "Upload and manage workers",
    verbs: {
      list: { summary: "List the installed workers", load: () => import("./commands/workers/list.js") },
      upload: { summary: "Upload a folder or an archive, and serve it", load: () => import("./commands/workers/upload.js") },
      enable: { summary: "Serve a version again", load: () => import("./commands/workers/enable.js") },
      disable: { summary: "Stop serving a version, keep it installed", load: () => import("./commands/workers/disable.js") },
      delete: { summary: "Delete a worker or one version of it", load: () => import("./commands/workers/delete.js") },
    },
  },
  keys: {
    summary: "Create and revoke API keys",
    verbs: {
      list: { summary: "List the keys", load: () => import("./commands/keys/list.js") },
      create: { summary: "Create a key; it is shown once", load: () => import("./commands/keys/create.js") },
      revoke: { summary: "Revoke a key for good", load: () => import("./commands/keys/revoke.js") },
      meta: { summary: "List the roles and what each may do", load: () => import("./commands/keys/meta.js") },
    },
  },
  api: { summary: "Call the API directly, signed in", load: () => import("./commands/api.js") },
  help: { summary: "Show help on a command or a topic", load: () => import("./commands/help.js") },
};

export function isNoun(entry: CommandEntry | NounEntry): entry is NounEntry {
  return "verbs" in entry;
}
