import { shellWord } from "../output/shell-word.js";
import type { Settings } from "./settings.js";

/** Returns the command that signs in to the daemon of the settings and stores the key in the profile of the settings. */
export function signInCommand({ profile, origin }: Pick<Settings, "profile" | "origin">): string {
  const isImplied = origin.source === "default" || origin.source === `profile ${profile?.value}`;
  return `runtimectl auth login${profile ? ` -p ${shellWord(profile.value)}` : ""}${isImplied ? "" : ` --url ${origin.value}`}`;
}
