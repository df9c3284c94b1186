/** Messages that the daemon sends to `runtimectl dev`, the process that started the daemon, over an IPC channel. */
export type DevReport =
  | { readonly kind: "listening"; readonly origin: string }
  | {
      readonly kind: "answered";
      readonly method: string;
      /** Path and query of the served request. */
      readonly target: string;
      readonly status: number;
      readonly durationMs: number;
    };
