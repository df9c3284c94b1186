import { readdirSync, type Dirent } from "node:fs";
import path from "node:path";

/** Text that a prompt for a local path contains at first. */
export const hereFolder = "./";

interface PathCompletion {
  /** The typed text, extended by the characters that all candidates have in common. */
  readonly text: string;
  /** Names of files and folders that start with the typed text. A folder's name ends with a slash. */
  readonly candidates: readonly string[];
}

interface PathContext {
  readonly workingDirectory: string;
  /** The folder for which `~` stands. If undefined, `~` is an ordinary character. */
  readonly home?: string;
  /** Whether all files are candidates. Otherwise only folders and archives are candidates. */
  readonly anyFile?: boolean;
}

/** Completes a local path as a shell does. */
export function completePath(typed: string, { workingDirectory, home, anyFile = false }: PathContext): PathCompletion {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const begun = typed.slice(folder.length);
  const candidates = entriesOf(path.resolve(workingDirectory, withHome(folder, home)))
    .filter((entry) => entry.name.startsWith(begun) && (begun.startsWith(".") || !entry.name.startsWith(".")))
    .filter((entry) => anyFile || entry.isDirectory() || entry.isSymbolicLink() || /\.(?:tgz|tar\.gz|zip)$/i.test(entry.name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted();
  const [first = begun, ...others] = candidates;
  const common = others.reduce((prefix, name) => commonPrefix(prefix, name), first);
  return { text: folder + common, candidates };
}

/** Returns the entries of a folder. Empty if the folder does not exist or cannot be read. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function commonPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/** Appends typed or pasted text to a path. If the text starts with `/` or `~`, it replaces the initial `./`. */
export function afterTyping(before: string, typed: string): string {
  return before === hereFolder && /^[/~]/.test(typed) ? typed : before + typed;
}

/** Replaces `~` at the start of a path with the home folder, as a shell does. */
export function withHome(typed: string, home: string | undefined): string {
  return home !== undefined && (typed === "~" || typed.startsWith("~/")) ? home + typed.slice(1) : typed;
}
