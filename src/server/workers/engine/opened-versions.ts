import type { ServedVersion, VersionHandler } from "./version-handler.js";
import type { WorkerMeter } from "./worker-meter.js";

/** Pause in ms after a failed opening, so that requests do not repeat a failing download without a pause. */
const reopenPauseMs = 1_000;

/** A version that the daemon has opened for a request. */
export interface OpenedVersion {
  readonly version: ServedVersion;
  readonly meter: WorkerMeter;
  readonly opening: Promise<VersionHandler>;
  /** The handler of the version. Undefined until the version is open. */
  app: VersionHandler | undefined;
  /** True until the version is open or failed to open. */
  isOpening: boolean;
}

/** The opened versions: the current version of each package folder, and replaced versions that are not retired yet. */
export class OpenedVersions {
  readonly #open: (version: ServedVersion) => Pick<OpenedVersion, "meter" | "opening">;
  readonly #current = new Map<string, OpenedVersion>();
  readonly #superseded = new Set<OpenedVersion>();
  /** Versions that accept no requests. Their isolates complete the running calls and stop. */
  readonly #retiring = new Set<OpenedVersion>();

  constructor(open: (version: ServedVersion) => Pick<OpenedVersion, "meter" | "opening">) {
    this.#open = open;
  }

  *[Symbol.iterator](): Iterator<OpenedVersion> {
    yield* this.#current.values();
    yield* this.#superseded;
  }

  /** Yields all opened versions, including those whose isolates only complete running calls. */
  *withRetiring(): Generator<OpenedVersion> {
    yield* new Set([...this, ...this.#retiring]);
  }

  /** Returns whether a version in a folder is being opened or has isolates. */
  isInUse(folder: string): boolean {
    const isUsed = ({ version, app, isOpening }: OpenedVersion) =>
      version.folder === folder && (isOpening || (app?.isolates.length ?? 0) > 0);
    const current = this.#current.get(folder);
    // Does not search all current versions, because there are many and the cache calls this function for each downloaded version.
    return (current !== undefined && isUsed(current)) || [...this.#superseded, ...this.#retiring].some(isUsed);
  }

  /** Returns the opened version. Opens the version if it is not open, or if the content of the package folder has changed. */
  of(version: ServedVersion): OpenedVersion {
    const existing = this.#current.get(version.folder);
    if (existing?.version.generation === version.generation) return existing;
    if (existing) this.#superseded.add(existing);
    const opened: OpenedVersion = { version, ...this.#open(version), app: undefined, isOpening: true };
    opened.opening
      .then(
        (app) => (opened.app = app),
        () => undefined,
      )
      .finally(() => (opened.isOpening = false));
    this.#current.set(version.folder, opened);
    return opened;
  }

  /**
   * Stops serving `folder`. If `movedTo` is defined, running isolates read files from that folder. Resolves when no isolate uses either
   * folder.
   */
  async retire(folder: string, movedTo: string | undefined): Promise<void> {
    const older = [...this.#superseded].filter((opened) => opened.version.folder === folder);
    const current = this.#current.get(folder);
    // If there are replaced versions, retires only these. A request between the replacement of the folder and this call can have opened the
    // new version, which must stay open.
    const retired = older.length > 0 ? older : current ? [current] : [];
    if (older.length === 0) this.#current.delete(folder);
    await Promise.all(
      retired.map(async (opened) => {
        this.#retiring.add(opened);
        const app = await opened.opening.catch(() => undefined);
        await app?.retire(movedTo);
        this.#superseded.delete(opened);
        this.#retiring.delete(opened);
      }),
    );
  }

  /** Downloads the files of a version that is not on the disk. After a failure, the first request after 1 s opens the version again. */
  async download(version: ServedVersion, ensure: ((version: ServedVersion) => Promise<void>) | undefined): Promise<void> {
    try {
      await ensure?.(version);
    } catch (error) {
      const failed = this.#current.get(version.folder);
      const forget = () => this.#current.get(version.folder) === failed && this.#current.delete(version.folder);
      if (failed?.version.generation === version.generation) setTimeout(forget, reopenPauseMs).unref();
      throw error;
    }
  }

  /**
   * Replaces the isolates of the version in a package folder. Returns the number of old isolates. If the version failed to open, the next
   * request opens it again.
   */
  async restart(folder: string): Promise<number> {
    const opened = this.#current.get(folder);
    try {
      return (await opened?.opening)?.restart() ?? 0;
    } catch {
      if (this.#current.get(folder) === opened) this.#current.delete(folder);
      return 0;
    }
  }

  /** Replaces the isolates of all workers whose name matches. */
  async restartWorkers(matches: (name: string) => boolean): Promise<void> {
    const matching = [...this.#current].filter(([, { version }]) => matches(version.name));
    await Promise.all(matching.map(([folder]) => this.restart(folder)));
  }
}
