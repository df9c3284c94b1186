import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, lstat, mkdir, readdir, readlink, realpath, rm, symlink, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRequest } from "../web/lazy-request.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import type { TransformFailure } from "esbuild";

/** They say nothing about the code, and change with each toggle. */
const manifestNames = new Set(["manifest.yaml", "manifest.yml"]);
/** Code that no plugin uses any more, but may again: after a toggle, a rollback. */
const mostUnusedCopies = 10;
/** A plugin's folder is read at each reload. */
const mostFiles = 50_000;

/** A line of a stack that leads into a file, and not into Node itself. */
const placeLine = /^ +at (?!.*node:).*[\\/].*:\d+:\d+\)?$/m;
/** More files than these are not searched for the one that is at fault. */
const mostCheckedFiles = 200;

/**
 * Imports the code of plugins. Modules are cached by URL for the life of the process, so code is imported from a copy whose path carries
 * the hash of all its files: changed code is loaded again with all that it imports, unchanged code is never loaded twice.
 */
export class PluginCode {
  readonly #directory: string;
  readonly #packageRoot: string;
  /** By hash, the latest use last. */
  readonly #copies = new Map<string, CodeCopy>();
  /** By folder: the last look at it, and the hash that was found. */
  readonly #looks = new Map<string, { readonly look: string; readonly hash: string }>();
  readonly #copyPath: RegExp;
  #copyCount = 0;

  /** `packageRoot` is where `runtimectl/plugin` is found by plugins. */
  constructor(options: { directory: string; packageRoot: string }) {
    this.#directory = options.directory;
    this.#packageRoot = options.packageRoot;
    this.#copyPath = new RegExp(`(?:file://)?${options.directory.replaceAll(/[^\w/]/g, String.raw`\$&`)}/[0-9a-f]+-\\d+/`, "g");
  }

  /** Removes what an earlier daemon left. */
  async open(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    const modules = path.join(this.#directory, "node_modules");
    await mkdir(modules, { recursive: true, mode: 0o700 });
    await symlink(this.#packageRoot, path.join(modules, "runtimectl"));
  }

  /**
   * Whether an error that nobody caught is a plugin's: its stack leads into the code of one, or nowhere. What is thrown without a stack,
   * and what Node says of a `fetch`, a stream or a connection that failed, tells no place; the daemon's own errors do.
   */
  isSourceOf(error: unknown): boolean {
    if (this.#copyCount === 0) return false;
    const stack = stackOf(error);
    return stack.includes(this.#directory + path.sep) || !placeLine.test(stack);
  }

  /** Whether a folder could not be read only because it was changed meanwhile. */
  mayReadAgain(error: unknown): boolean {
    return error instanceof FilesChangedError;
  }

  /** A text from a plugin's code, with the paths as the plugin's author knows them. */
  withoutPaths(text: string): string {
    return text.replaceAll(this.#copyPath, "");
  }

  /** Tells apart the contents of a folder, its manifest left out; of two plugins with the same code each has its own modules. */
  async hashOf(plugin: string, folder: string): Promise<string> {
    return await readAtOnce(() => this.#hashOf(plugin, folder));
  }

  async #hashOf(plugin: string, folder: string): Promise<string> {
    const entries = await listTree(folder);
    const look = JSON.stringify(entries);
    const known = this.#looks.get(folder);
    if (known?.look === look) return known.hash;
    const hash = await hashTree(plugin, folder, entries);
    this.#looks.set(folder, { look, hash });
    return hash;
  }

  /** The module at `entry` of a folder whose hash is given. Throws what the import throws. */
  async load({ name, folder, hash, entry }: { name: string; folder: string; hash: string; entry: string }): Promise<unknown> {
    const copy = this.#copies.get(hash) ?? this.#makeCopy(name, folder, hash);
    // Before a module can keep the one of `Request` or `fetch` that does not know ours.
    installRequest();
    const module = copy.modules.get(entry) ?? copy.made.then(() => importFrom(copy.path, entry));
    copy.modules.set(entry, module);
    // What failed may be tried again: from another copy, since Node remembers failed imports as well.
    module.catch(() => this.#delete(hash, copy));
    return await module;
  }

  /** Deletes copies that are of no use any more; `hashes` are those that are used. */
  async keep(hashes: ReadonlySet<string>): Promise<void> {
    for (const hash of hashes) {
      const copy = this.#copies.get(hash);
      if (!copy) continue;
      this.#copies.delete(hash);
      this.#copies.set(hash, copy);
    }
    const unused = [...this.#copies].filter(([hash]) => !hashes.has(hash));
    const surplus = unused.slice(0, Math.max(0, unused.length - mostUnusedCopies));
    await Promise.all(surplus.map(([hash, copy]) => this.#delete(hash, copy)));
  }

  #makeCopy(name: string, folder: string, hash: string): CodeCopy {
    this.#copyCount += 1;
    const target = path.join(this.#directory, `${hash.slice(0, 32)}-${this.#copyCount}`);
    const copy = {
      path: target,
      made: readAtOnce(() => copyTree({ name, folder, hash }, target)),
      modules: new Map<string, Promise<unknown>>(),
    };
    this.#copies.set(hash, copy);
    return copy;
  }

  async #delete(hash: string, copy: CodeCopy): Promise<void> {
    if (this.#copies.get(hash) === copy) this.#copies.delete(hash);
    // What cannot be deleted goes at the next start.
    await rm(copy.path, { recursive: true, force: true }).catch(() => undefined);
  }
}

interface CodeCopy {
  readonly path: string;
  readonly made: Promise<void>;
  /** By entry: what the import gives. */
  readonly modules: Map<string, Promise<unknown>>;
}

/** A plugin's folder was changed, or replaced, while it was read: what was read is neither the one nor the other. */
class FilesChangedError extends Error {
  constructor(options?: ErrorOptions) {
    super("its files changed while they were read", options);
  }
}

async function readAtOnce<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    // What was there a moment ago.
    throw (error as { code?: unknown }).code === "ENOENT" ? new FilesChangedError({ cause: error }) : error;
  }
}

async function copyTree({ name, folder, hash }: { name: string; folder: string; hash: string }, target: string): Promise<void> {
  // Links stay what they are, as those that npm makes in node_modules/.bin; only the folder itself may be one that leads to it.
  await cp(await realpath(folder), target, { recursive: true, verbatimSymlinks: true, filter: isCode });
  if ((await hashTree(name, target, await listTree(target))) !== hash) throw new FilesChangedError();
}

async function importFrom(folder: string, entry: string): Promise<unknown> {
  try {
    return await withinTimeLimit(import(pathToFileURL(path.join(folder, entry)).href), lifeTimeLimitMs, "its import");
  } catch (error) {
    const fault = error instanceof SyntaxError ? await findSyntaxFault(folder) : undefined;
    throw fault === undefined ? error : new Error(`syntax error in ${fault}`, { cause: error });
  }
}

/** A pipe or a socket that lies there is no code. */
async function isCode(source: string): Promise<boolean> {
  const stat = await lstat(source);
  return stat.isDirectory() || stat.isFile() || stat.isSymbolicLink();
}

interface TreeEntry {
  readonly path: string;
  readonly kind: "file" | "link";
  readonly size: number;
  readonly changedAtMs: number;
  readonly inode: number;
}

async function listTree(folder: string): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const pending = [""];
  for (let relative = pending.pop(); relative !== undefined; relative = pending.pop()) {
    for (const entry of await readdir(path.join(folder, relative), { withFileTypes: true })) {
      const entryPath = path.join(relative, entry.name);
      if (relative === "" && manifestNames.has(entry.name)) continue;
      if (entry.isDirectory()) pending.push(entryPath);
      else if (entry.isFile() || entry.isSymbolicLink()) entries.push(await lookAt(folder, entryPath));
      if (entries.length > mostFiles) throw new Error(`it has more than ${mostFiles} files`);
    }
  }
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function lookAt(folder: string, entryPath: string): Promise<TreeEntry> {
  const stat = await lstat(path.join(folder, entryPath));
  const kind = stat.isSymbolicLink() ? "link" : "file";
  return { path: entryPath, kind, size: stat.size, changedAtMs: stat.ctimeMs, inode: stat.ino };
}

async function hashTree(plugin: string, folder: string, entries: readonly TreeEntry[]): Promise<string> {
  const tree = createHash("sha256").update(`${plugin}\n`);
  for (const entry of entries) {
    const absolute = path.join(folder, entry.path);
    const content = createHash("sha256");
    if (entry.kind === "link") content.update(await readlink(absolute));
    else for await (const chunk of createReadStream(absolute) as AsyncIterable<Buffer>) content.update(chunk);
    tree.update(`${entry.kind}\0${entry.path}\0${content.digest("hex")}\n`);
  }
  return tree.digest("hex");
}

function stackOf(error: unknown): string {
  try {
    const { stack } = error as { stack?: unknown };
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
}

/**
 * Where the syntax of a plugin's own files is at fault, as `plugin.js:3:14: Expected ";"`; undefined when it is not found. Node tells
 * the place of a syntax error to the terminal only. The compiler is started for this alone, and ends with it.
 */
async function findSyntaxFault(folder: string): Promise<string | undefined> {
  const { transform, stop } = await import("esbuild");
  try {
    for (const file of await ownModules(folder)) {
      const fault = await transform(await readFile(path.join(folder, file), "utf8"), { sourcefile: file, logLevel: "silent" }).then(
        () => undefined,
        (failure: TransformFailure) => failure.errors[0],
      );
      if (fault) return `${file}:${fault.location?.line ?? 1}:${(fault.location?.column ?? 0) + 1}: ${fault.text}`;
    }
    return undefined;
  } finally {
    await stop();
  }
}

async function ownModules(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => /\.[cm]?js$/.test(file) && !file.split(path.sep).includes("node_modules")).slice(0, mostCheckedFiles);
}
