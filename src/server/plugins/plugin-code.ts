import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, lstat, mkdir, readdir, readlink, realpath, rm, symlink, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRequest } from "../web/lazy-request.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import { describeError } from "./plugin-loader.js";
import type { TransformFailure } from "esbuild";

/**
 * Names of manifest files. The hash of the code excludes these files, because the manifest also changes when a plugin is enabled or
 * disabled.
 */
const manifestNames = new Set(["manifest.yaml", "manifest.yml"]);
/**
 * Maximum number of copies of plugin code that no plugin uses. The daemon uses such a copy again when a plugin is enabled again or rolled
 * back.
 */
const mostUnusedCopies = 10;
/** Maximum number of files in a plugin folder. Each reload reads the whole folder, so this limit bounds the time of a reload. */
const mostFiles = 50_000;

/** Matches a line of a stack trace with a file that is not part of Node.js. */
const placeLine = /^ +at (?!.*node:).*[\\/].*:\d+:\d+\)?$/m;
/** Maximum number of files in which the daemon looks for a syntax error. The limit bounds the time of a failed load. */
const mostCheckedFiles = 200;

/**
 * Imports the code of plugins. Node.js caches each module URL forever, so the daemon imports a copy whose path contains a hash of all
 * files. Changed code thus has new URLs, and unchanged code is not loaded again.
 */
export class PluginCode {
  readonly #directory: string;
  readonly #packageRoot: string;
  /** Code copies by hash, least recently used first. */
  readonly #copies = new Map<string, CodeCopy>();
  /** For each plugin, the last list of the files in its folder, and the hash of the code that belongs to this list. */
  readonly #hashes = new Map<string, { readonly files: string; readonly hash: string }>();
  readonly #copyPath: RegExp;
  #copyCount = 0;

  /** `packageRoot` is the folder of the package to which `runtimectl/plugin` resolves in the code of plugins. */
  constructor(options: { directory: string; packageRoot: string }) {
    this.#directory = options.directory;
    this.#packageRoot = options.packageRoot;
    this.#copyPath = new RegExp(`(?:file://)?${options.directory.replaceAll(/[^\w/]/g, String.raw`\$&`)}/[0-9a-f]+-\\d+/`, "g");
  }

  /** Deletes the code copies of the previous daemon process and creates the folder for new copies. */
  async open(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    const modules = path.join(this.#directory, "node_modules");
    await mkdir(modules, { recursive: true, mode: 0o700 });
    await symlink(this.#packageRoot, path.join(modules, "runtimectl"));
  }

  /**
   * Returns whether a plugin probably caused an uncaught error: the stack trace contains plugin code or no file. Errors of `fetch`, streams
   * or connections can have no file. The stack trace of a daemon error always contains a file.
   */
  isSourceOf(error: unknown): boolean {
    if (this.#copyCount === 0) return false;
    const stack = stackOf(error);
    return stack.includes(this.#directory + path.sep) || !placeLine.test(stack);
  }

  /** Returns whether the error means only that the plugin folder changed during the read. A second read can then succeed. */
  mayReadAgain(error: unknown): boolean {
    return error instanceof FilesChangedError;
  }

  /**
   * Returns the text of a load error, with the position in the plugin's code if the stack trace contains it. Paths are relative to the
   * plugin folder.
   */
  describe(error: unknown): string {
    const text = describeError(error).replaceAll(this.#copyPath, "");
    const place = this.positionOf(error);
    return place === undefined ? text : `${text} (${place})`;
  }

  /**
   * Returns the position of an error in the code of a plugin, such as `plugin.js:3:14`. Undefined if the stack trace contains no such
   * position.
   */
  positionOf(error: unknown): string | undefined {
    const frame = stackOf(error)
      .split("\n")
      .find((line) => line.search(this.#copyPath) !== -1 && /^ +at /.test(line));
    return frame?.replace(this.#copyPath, "\0").match(/\0(.*?:\d+:\d+)/)?.[1];
  }

  /**
   * Returns a hash of all files in a plugin folder except the manifest. The name of the plugin is part of the hash, so that two plugins
   * with equal code get separate modules.
   */
  async hashOf(plugin: string, folder: string): Promise<string> {
    return await readAtOnce(() => this.#hashOf(plugin, folder));
  }

  async #hashOf(plugin: string, folder: string): Promise<string> {
    const entries = await listTree(folder);
    const files = JSON.stringify(entries);
    const known = this.#hashes.get(plugin);
    if (known?.files === files) return known.hash;
    const hash = await hashTree(plugin, folder, entries);
    this.#hashes.set(plugin, { files, hash });
    return hash;
  }

  /** Imports the module `entry` from a copy of the folder. `hash` is the hash of the code. Rejects with the error of the import. */
  async load({ name, folder, hash, entry }: { name: string; folder: string; hash: string; entry: string }): Promise<unknown> {
    const copy = this.#copies.get(hash) ?? this.#makeCopy(name, folder, hash);
    // Installs the daemon's `Request` class first. A module could otherwise store the native `Request` or `fetch`, which do not accept the
    // requests of the daemon.
    installRequest();
    const module = copy.modules.get(entry) ?? copy.made.then(() => importFrom(copy.path, entry));
    copy.modules.set(entry, module);
    // Deletes the copy after a failed import, so that the next import uses a new copy. Node.js also caches failed imports.
    module.catch(() => this.#delete(hash, copy));
    return await module;
  }

  /**
   * Deletes unused copies above the maximum, least recently used first. Keeps the copies whose hash is in `hashes`, because plugins use
   * them.
   */
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
    // Ignores the error, because the next start of the daemon deletes all copies.
    await rm(copy.path, { recursive: true, force: true }).catch(() => undefined);
  }
}

interface CodeCopy {
  readonly path: string;
  readonly made: Promise<void>;
  /** Imported modules by entry file. */
  readonly modules: Map<string, Promise<unknown>>;
}

/** Thrown if a plugin folder was changed or replaced while the daemon read it. The result would mix old and new files. */
class FilesChangedError extends Error {
  constructor(options?: ErrorOptions) {
    super("the plugin's files changed while they were read", options);
  }
}

async function readAtOnce<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    // ENOENT means that a listed file was deleted during the read.
    throw (error as { code?: unknown }).code === "ENOENT" ? new FilesChangedError({ cause: error }) : error;
  }
}

async function copyTree({ name, folder, hash }: { name: string; folder: string; hash: string }, target: string): Promise<void> {
  // Copies symbolic links as links, because node_modules/.bin contains links. If the folder itself is a link, copies its target.
  await cp(await realpath(folder), target, { recursive: true, verbatimSymlinks: true, filter: isCode });
  if ((await hashTree(name, target, await listTree(target))) !== hash) throw new FilesChangedError();
}

async function importFrom(folder: string, entry: string): Promise<unknown> {
  try {
    return await withinTimeLimit(import(pathToFileURL(path.join(folder, entry)).href), lifeTimeLimitMs, "the import");
  } catch (error) {
    const fault = error instanceof SyntaxError ? await findSyntaxFault(folder) : undefined;
    throw fault === undefined ? error : new Error(`syntax error in ${fault}`, { cause: error });
  }
}

/** Returns whether the daemon copies an entry. Skips pipes and sockets, because they contain no code. */
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
      else if (entry.isFile() || entry.isSymbolicLink()) entries.push(await readEntry(folder, entryPath));
      if (entries.length > mostFiles) throw new Error(`the plugin has more than ${mostFiles} files`);
    }
  }
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function readEntry(folder: string, entryPath: string): Promise<TreeEntry> {
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
 * Returns the first syntax error, such as `plugin.js:3:14: Expected ";"`, or undefined if there is none. Node.js prints the position only
 * on the terminal, so this function starts esbuild and stops it afterwards.
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
