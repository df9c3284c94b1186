import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, lstat, mkdir, readdir, readlink, realpath, rm, symlink, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRequest } from "../web/lazy-request.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import type { TransformFailure } from "esbuild";

/** Manifests do not affect the code hash: each toggle of a plugin changes them. */
const manifestNames = new Set(["manifest.yaml", "manifest.yml"]);
/** Unused code copies that are kept for a later toggle or rollback. */
const mostUnusedCopies = 10;
/** Limit of files, because each reload reads the whole folder. */
const mostFiles = 50_000;

/** A stack line that refers to a file outside of Node itself. */
const placeLine = /^ +at (?!.*node:).*[\\/].*:\d+:\d+\)?$/m;
/** Maximum files that are searched for a syntax error. */
const mostCheckedFiles = 200;

/**
 * Imports plugin code. Node caches modules by URL forever, so imports use a copy whose path has the hash of all files: changed code loads
 * again with all its imports, unchanged code loads once.
 */
export class PluginCode {
  readonly #directory: string;
  readonly #packageRoot: string;
  /** Copies by hash, least recently used first. */
  readonly #copies = new Map<string, CodeCopy>();
  /** By folder: the last file listing and its hash. */
  readonly #looks = new Map<string, { readonly look: string; readonly hash: string }>();
  readonly #copyPath: RegExp;
  #copyCount = 0;

  /** `packageRoot`: folder from which plugins import `runtimectl/plugin`. */
  constructor(options: { directory: string; packageRoot: string }) {
    this.#directory = options.directory;
    this.#packageRoot = options.packageRoot;
    this.#copyPath = new RegExp(`(?:file://)?${options.directory.replaceAll(/[^\w/]/g, String.raw`\$&`)}/[0-9a-f]+-\\d+/`, "g");
  }

  /** Deletes the copies of an earlier daemon. */
  async open(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    const modules = path.join(this.#directory, "node_modules");
    await mkdir(modules, { recursive: true, mode: 0o700 });
    await symlink(this.#packageRoot, path.join(modules, "runtimectl"));
  }

  /**
   * Whether a plugin caused an uncaught error: its stack leads into plugin code, or has no file at all. Failures of `fetch`, streams and
   * connections have no file, while the daemon's own errors do.
   */
  isSourceOf(error: unknown): boolean {
    if (this.#copyCount === 0) return false;
    const stack = stackOf(error);
    return stack.includes(this.#directory + path.sep) || !placeLine.test(stack);
  }

  /** Whether reading failed only because the folder changed meanwhile. */
  mayReadAgain(error: unknown): boolean {
    return error instanceof FilesChangedError;
  }

  /** Returns the text with paths relative to the plugin's folder. */
  withoutPaths(text: string): string {
    return text.replaceAll(this.#copyPath, "");
  }

  /**
   * Returns a hash of a folder's content without its manifest. The plugin name is included, so two plugins with the same code have separate
   * modules.
   */
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

  /** Imports the module `entry` of a folder with this hash. Rejects with the error of the import. */
  async load({ name, folder, hash, entry }: { name: string; folder: string; hash: string; entry: string }): Promise<unknown> {
    const copy = this.#copies.get(hash) ?? this.#makeCopy(name, folder, hash);
    // Installed before the import: a module could store the native `Request` or `fetch`, which do not accept our requests.
    installRequest();
    const module = copy.modules.get(entry) ?? copy.made.then(() => importFrom(copy.path, entry));
    copy.modules.set(entry, module);
    // A failed import can be retried from a new copy, because Node also caches failed imports.
    module.catch(() => this.#delete(hash, copy));
    return await module;
  }

  /** Deletes surplus unused copies; `hashes` are in use. */
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
    // A remaining copy is deleted at the next start.
    await rm(copy.path, { recursive: true, force: true }).catch(() => undefined);
  }
}

interface CodeCopy {
  readonly path: string;
  readonly made: Promise<void>;
  /** Imported modules by entry. */
  readonly modules: Map<string, Promise<unknown>>;
}

/** A plugin's folder was changed or replaced while it was read, so the result is inconsistent. */
class FilesChangedError extends Error {
  constructor(options?: ErrorOptions) {
    super("the plugin's files changed while they were read", options);
  }
}

async function readAtOnce<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    // A listed file is missing now.
    throw (error as { code?: unknown }).code === "ENOENT" ? new FilesChangedError({ cause: error }) : error;
  }
}

async function copyTree({ name, folder, hash }: { name: string; folder: string; hash: string }, target: string): Promise<void> {
  // Symbolic links are copied as links, such as those in node_modules/.bin. Only the folder itself is resolved.
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

/** Skips entries that are not code, such as pipes and sockets. */
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
      if (entries.length > mostFiles) throw new Error(`the plugin has more than ${mostFiles} files`);
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
 * Finds a syntax error, such as `plugin.js:3:14: Expected ";"`; undefined when none is found. Needed because Node reports the position only
 * on the terminal. Starts esbuild, and stops it afterwards.
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
