/** A process that serves one version of a worker. */
export interface ServingIsolate {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** Hears when an isolate has its app loaded, and when its process is gone. */
export interface IsolateObserver {
  spawned(isolate: ServingIsolate): void;
  terminated(isolate: ServingIsolate): void;
}
