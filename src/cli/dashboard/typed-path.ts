/** What a prompt for a path of this machine begins with. */
export const hereFolder = "./";

/** The text after more was typed or pasted: an absolute path, or one below `~`, takes the place of the `./` that a prompt begins with. */
export function afterTyping(before: string, typed: string): string {
  return before === hereFolder && /^[/~]/.test(typed) ? typed : before + typed;
}

/** The path with the home folder in place of a leading `~`, as a shell has it. */
export function withHome(typed: string, home: string | undefined): string {
  return home !== undefined && (typed === "~" || typed.startsWith("~/")) ? home + typed.slice(1) : typed;
}
