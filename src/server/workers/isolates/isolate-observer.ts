/** A process that serves one version of a worker. */
export interface ServingIsolate {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** Something that an operator should know of a worker's version. */
export interface WorkerTrouble {
  readonly name: string;
  readonly version: string;
  readonly kind: "crashed" | "start-failed" | "left-alone";
  /** A sentence. */
  readonly message: string;
}

/** Hears when an isolate has its app loaded, when its process is gone, and of what went wrong. */
export interface IsolateObserver {
  spawned(isolate: ServingIsolate): void;
  terminated(isolate: ServingIsolate): void;
  troubled(trouble: WorkerTrouble): void;
}
