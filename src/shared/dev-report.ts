/** What the daemon of `runtimectl dev` tells over its channel. */
export type DevReport =
  | { readonly kind: "listening"; readonly origin: string }
  | {
      readonly kind: "answered";
      readonly method: string;
      /** Path and query, as they were asked for. */
      readonly target: string;
      readonly status: number;
      readonly durationMs: number;
    };
