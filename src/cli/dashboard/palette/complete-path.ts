import { readdirSync, type Dirent } from "node:fs";
import path from "node:path";

/** Initial text of a prompt for a local path. */
export const hereFolder = "./";

interface PathCompletion {
  /** The typed text, completed up to the common prefix of the candidates. */
  readonly text: string;
  /** Names of files and folders that match the typed text. Folders end in a slash. */
  readonly candidates: readonly string[];
}

interface Place {
  readonly workingDirectory: string;
  /** The folder that replaces `~`. If undefined, `~` is not expanded. */
  readonly home?: string;
  /** Whether all files are candidates instead of only folders and archives. */
  readonly anyFile?: boolean;
}

/** Completes a local path like a shell. */
export function completePath(typed: string, { workingDirectory, home, anyFile = false }: Place): PathCompletion {
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

/** Returns the files and folders in a folder. Empty if the folder does not exist or is not readable. */
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

/** Appends typed or pasted text to a path. A text that starts with `/` or `~` replaces the initial `./`. */
export function afterTyping(before: string, typed: string): string {
  return before === hereFolder && /^[/~]/.test(typed) ? typed : before + typed;
}

/** Expands a leading `~` in a path like a shell. */
export function withHome(typed: string, home: string | undefined): string {
  return home !== undefined && (typed === "~" || typed.startsWith("~/")) ? home + typed.slice(1) : typed;
}
