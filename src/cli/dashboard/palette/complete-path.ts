import { readdirSync, type Dirent } from "node:fs";
import path from "node:path";

/** What a prompt for a path of this machine begins with. */
export const hereFolder = "./";

interface PathCompletion {
  /** What was typed, as far as it can be completed. */
  readonly text: string;
  /** The names that it may become, folders with a slash. */
  readonly candidates: readonly string[];
}

interface Place {
  readonly workingDirectory: string;
  /** What `~` stands for; nothing without it. */
  readonly home?: string;
  /** Whether any file is a candidate, and not folders and archives alone. */
  readonly anyFile?: boolean;
}

/** Completes a path as a shell does: to folders, and to archives or to any file. */
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

/** None where there is no folder, or none that may be read. */
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

/** The text after more was typed or pasted: an absolute path, or one below `~`, takes the place of the `./` that a prompt begins with. */
export function afterTyping(before: string, typed: string): string {
  return before === hereFolder && /^[/~]/.test(typed) ? typed : before + typed;
}

/** The path with the home folder in place of a leading `~`, as a shell has it. */
export function withHome(typed: string, home: string | undefined): string {
  return home !== undefined && (typed === "~" || typed.startsWith("~/")) ? home + typed.slice(1) : typed;
}
