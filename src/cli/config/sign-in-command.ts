import { shellWord } from "../output/shell-word.js";
import type { Settings } from "./settings.js";

/** Returns the command line that signs in to the daemon at `origin` and stores the key in `profile`. */
export function signInCommand({ profile, origin }: Pick<Settings, "profile" | "origin">): string {
  const isImplied = origin.source === "default" || origin.source === `profile ${profile?.value}`;
  return `runtimectl auth login${profile ? ` -p ${shellWord(profile.value)}` : ""}${isImplied ? "" : ` --url ${origin.value}`}`;
}
