import type { RuntimeEvent } from "../../../shared/contract/events.js";
import type { HistoryMarker } from "../../../shared/contract/metrics-history.js";
import type { HistoryStore } from "./history-store.js";

/**
 * Delay in ms before the recorder writes a marker. During this delay, the event with the name of the API key arrives and completes the
 * marker.
 */
const writeDelayMs = 2000;
/**
 * If the event about a change of a worker follows the change of its active version within this time in seconds, both count as one
 * deployment.
 */
const sameChangeSeconds = 10;
const deployingTypes: readonly string[] = ["worker.installed", "worker.enabled", "worker.disabled", "worker.version-deleted"];

interface MarkerRecorderOptions {
  readonly store: HistoryStore;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
  readonly activeVersionOf: (name: string) => string | undefined;
}

/** Records the start of the daemon and the events of workers as markers in the metrics history. */
export class MarkerRecorder {
  readonly #options: MarkerRecorderOptions;
  /** For each worker name, the last deployment whose markers are not written yet. A later event can still add the name of the API key. */
  readonly #deployments = new Map<string, { at: number; markers: HistoryMarker[] }>();
  #unwritten: { name: string; marker: HistoryMarker }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MarkerRecorderOptions) {
    this.#options = options;
  }

  noteStart(): void {
    this.#add("", { at: this.#nowSeconds(), type: "start" });
  }

  noteEvent({ type, subject, principal }: RuntimeEvent, name: string): void {
    const by = principal && { by: principal.name };
    const version = subject?.version === undefined ? {} : { version: subject.version };
    if (type === "worker.restarted") this.#addForWorker(name, { at: this.#nowSeconds(), type: "restart", ...version, ...by });
    else if (type === "worker.answering") this.#addDeployment(name, { ...version });
    else if (deployingTypes.includes(type)) {
      const last = this.#deployments.get(name);
      if (last && this.#nowSeconds() - last.at <= sameChangeSeconds) for (const marker of last.markers) Object.assign(marker, by);
      // Handles an upload that has replaced the active version by a package with the same version number.
      else if (type === "worker.installed" && this.#options.activeVersionOf(name) === subject?.version)
        this.#addDeployment(name, { ...version, ...by });
    }
  }

  /** Discards the unwritten markers of a deleted worker. Markers in the history of the daemon stay. */
  forget(name: string): void {
    this.#deployments.delete(name);
    this.#unwritten = this.#unwritten.filter((unwritten) => unwritten.name !== name);
  }

  /** Writes all markers that are not in the journal yet. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#deployments.clear();
    const unwritten = this.#unwritten.splice(0);
    return this.#options.store.append(unwritten.map(({ name, marker }) => ({ kind: "markers", name, markers: [marker] })));
  }

  #addDeployment(name: string, details: Pick<HistoryMarker, "version" | "by">): void {
    const at = this.#nowSeconds();
    this.#deployments.set(name, { at, markers: this.#addForWorker(name, { at, type: "deploy", ...details }) });
  }

  /** Adds one marker to the history of a worker and one to the history of the daemon. Returns both markers. */
  #addForWorker(name: string, marker: HistoryMarker): HistoryMarker[] {
    const ofDaemon = { ...marker, worker: name };
    this.#add(name, marker);
    this.#add("", ofDaemon);
    return [marker, ofDaemon];
  }

  #add(name: string, marker: HistoryMarker): void {
    const { store } = this.#options;
    (name === "" ? store.daemon : store.seriesOf(name))?.addMarker(marker);
    this.#unwritten.push({ name, marker });
    this.#timer ??= setTimeout(() => void this.write(), writeDelayMs).unref();
  }

  #nowSeconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}
