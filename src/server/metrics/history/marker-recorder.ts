import type { RuntimeEvent } from "../../../shared/contract/events.js";
import type { HistoryMarker } from "../../../shared/contract/metrics-history.js";
import type { HistoryStore } from "./history-store.js";

/** Time in ms from a marker to its write. The event with the name of the API key arrives within this time. */
const writeDelayMs = 2000;
/** Time in seconds in which the change of a worker and the change of its active version count as one deployment. */
const sameChangeSeconds = 10;
const deployingTypes: readonly string[] = ["worker.installed", "worker.enabled", "worker.disabled", "worker.version-deleted"];

interface MarkerRecorderOptions {
  readonly store: HistoryStore;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
  readonly activeVersionOf: (name: string) => string | undefined;
}

/** Turns the start of the daemon and the events of workers into markers of the history. */
export class MarkerRecorder {
  readonly #options: MarkerRecorderOptions;
  /** Last deployment of each worker, while its key can still become known. */
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
      // An upload with the same version number has replaced the active version.
      else if (type === "worker.installed" && this.#options.activeVersionOf(name) === subject?.version)
        this.#addDeployment(name, { ...version, ...by });
    }
  }

  /** Discards the markers of a deleted worker that are not written yet. Those in the history of the daemon stay. */
  forget(name: string): void {
    this.#deployments.delete(name);
    this.#unwritten = this.#unwritten.filter((unwritten) => unwritten.name !== name);
  }

  /** Writes all markers. */
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

  /** Adds a marker to the history of a worker and of the daemon. Returns both. */
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
