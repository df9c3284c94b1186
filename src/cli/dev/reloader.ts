import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { ClientOf } from "../../shared/client.js";
import type { removeVersion, upload } from "../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../shared/package-name.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { reportFailure } from "../command/failure.js";
import { archiveName, writeArchive, type Archive } from "../pack/write-archive.js";
import { detectPackage } from "../detect/detected-package.js";
import { planBundle } from "../pack/bundle-plan.js";
import { planPack, type PackPlan } from "../pack/pack-plan.js";
import { readDevVariables, withDevVariables } from "./dev-variables.js";
import { FolderWatch } from "./folder-watch.js";
import { findSyntaxError } from "../validate/syntax-errors.js";

/** Delay after which packing is repeated, if a file changed while the worker was packed. */
const retryMs = 100;
/** Error codes for a wrong folder or flag. No change of the code can fix these errors. */
const hopeless = new Set(["MISSING_PACKAGE_NAME", "USAGE"]);
/** Names of folders whose changes `runtimectl dev` does not detect, even if the archive contains their files. */
const unwatched = new Set(["node_modules", ".git"]);

interface ReloaderOptions {
  readonly context: Context;
  readonly folder: string;
  /** Folder for the temporary files of a reload. */
  readonly directory: string;
  readonly bundle: boolean;
  readonly externals: readonly string[];
  readonly varsFile: string | undefined;
  readonly client: ClientOf<{ workers: { upload: typeof upload; removeVersion: typeof removeVersion } }>;
  /** Callback that runs after each successful upload. `isFirst` is true for the first upload. */
  readonly onServed: (worker: Served, how: { tookMs: number; isFirst: boolean }) => void;
  /** Callback that runs if the first reload fails with an error that no change of the code can fix. */
  readonly onHopeless: (error: unknown) => void;
}

export interface Served {
  readonly name: string;
  readonly version: string;
}

/**
 * Packs and uploads the worker's folder after each change. Only one reload runs at a time. The previous code stays active until the daemon
 * has loaded the new code.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #watch: FolderWatch;
  #wanted: "changed" | "forced" | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #count = 0;
  #leftOut: ReadonlySet<string> = new Set();
  /** SHA-256 hash of the archive that was uploaded last, even if the daemon rejected it. */
  #triedSha256: string | undefined;
  #lastFailure: string | undefined;
  #served: Served | undefined;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#watch = new FolderWatch(options.folder, () => this.request("changed"));
  }

  /** Starts a reload, or schedules one after the running reload. With `forced`, also uploads content that has not changed. */
  request(reason: "changed" | "forced"): void {
    if (this.#isEnding) return;
    if (this.#wanted !== "forced") this.#wanted = reason;
    this.#running ??= this.#run();
  }

  /** Stops watching and reloading. Resolves only after a running reload has ended, because a reload writes temporary files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    await this.#running;
  }

  get #isEnding(): boolean {
    return this.#isClosed || this.#options.context.signal.aborted;
  }

  async #run(): Promise<void> {
    while (this.#wanted !== undefined && !this.#isEnding) {
      const isForced = this.#wanted === "forced";
      this.#wanted = undefined;
      await this.#reload(isForced);
    }
    this.#running = undefined;
  }

  async #reload(isForced: boolean): Promise<void> {
    const startedMs = performance.now();
    const { folder, directory, context, onServed } = this.#options;
    // Starts watching before the first file is read. Otherwise a change between reading and watching would be missed.
    this.#watch.follow((below) => unwatched.has(path.posix.basename(below)) || this.#leftOut.has(below));
    if (this.#watch.problem !== undefined) context.output.warn(`some folders of ${folder} are not watched: ${this.#watch.problem}`);
    const made = path.join(directory, `pack-${(this.#count += 1)}`);
    let plan: PackPlan | undefined;
    try {
      await mkdir(made);
      plan = await this.#plan(made);
      const file = path.join(made, "package.tgz");
      const archive = await writeArchive(plan.files, file, context.signal);
      if (!isForced && archive.sha256 === this.#triedSha256) return;
      this.#triedSha256 = archive.sha256;
      const worker = await this.#upload(plan, file, archive);
      onServed(worker, { tookMs: Math.round(performance.now() - startedMs), isFirst: this.#served === undefined });
      this.#served = worker;
      this.#lastFailure = undefined;
    } catch (error) {
      await this.#onFailure(error, plan, isForced);
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  }

  async #plan(made: string): Promise<PackPlan> {
    const { folder, bundle, externals, varsFile, context } = this.#options;
    const env = readDevVariables(folder, varsFile);
    const options = (await detectPackage(folder, made))?.options;
    const plan: PackPlan & { readonly warnings?: readonly string[] } = await (bundle
      ? planBundle(folder, made, { externals, ...options })
      : planPack(folder, options));
    for (const warning of plan.warnings ?? []) context.output.warn(warning);
    this.#noteLeftOut(plan);
    return withDevVariables(plan, made, env);
  }

  #noteLeftOut({ leftOut }: PackPlan): void {
    this.#leftOut = new Set(leftOut.filter((entry) => entry.path.endsWith("/")).map((entry) => entry.path.slice(0, -1)));
  }

  async #upload({ facts }: PackPlan, file: string, { sizeBytes }: Archive): Promise<Served> {
    const { client } = this.#options;
    const { data } = await client.workers.upload({ file: { filename: archiveName(facts), sizeBytes, bytes: createReadStream(file) } });
    const { name, version } = data.worker;
    const before = this.#served;
    // If the user changed the name or version, deletes the previous worker version. Otherwise the previous version could stay active.
    if (before !== undefined && (before.name !== name || before.version !== version))
      await client.workers.removeVersion({ params: { ...toPathSegments(before.name), version: before.version } });
    return { name, version };
  }

  async #onFailure(error: unknown, plan: PackPlan | undefined, isForced: boolean): Promise<void> {
    const { context, folder, onHopeless } = this.#options;
    if (this.#isEnding) return;
    const { code, message } = error as { code?: string; message: string };
    if (code === "FILE_CHANGED" || code === "ENOENT") return void setTimeout(() => this.request("changed"), retryMs);
    if (hopeless.has(code ?? "") && this.#served === undefined && this.#lastFailure === undefined) return onHopeless(error);
    if (!(error instanceof ApiError)) this.#triedSha256 = undefined;
    if (!isForced && message === this.#lastFailure && this.#triedSha256 === undefined) return;
    this.#lastFailure = message;
    const place = plan !== undefined && message.includes("SyntaxError") ? await findSyntaxError(folder, plan.files) : undefined;
    reportFailure(place ?? withoutShownError(error), context.output);
    context.output.note(
      this.#served === undefined ? "no code is served yet; waiting for a change" : "the previous code stays active; waiting for a change",
    );
  }
}

/**
 * Shortens an error that the worker's code threw while it was loaded, because `runtimectl dev` already prints the daemon's log line with
 * the error and its stack.
 */
function withoutShownError(error: unknown): unknown {
  const isThrown = error instanceof ApiError && error.code === "WORKER_START_FAILED" && /\(\S+:\d+:\d+\)$/.test(error.message);
  return isThrown ? new CommandError(error.code, "the worker's code could not be loaded", { exitCode: exitCodes.failed }) : error;
}
