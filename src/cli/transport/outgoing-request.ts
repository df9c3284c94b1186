import type { Settings } from "../settings.js";

/** A request to one origin as it goes out, credential included. */
export interface OutgoingRequest {
  readonly method: string;
  /** From the origin on, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ConnectSettings = Pick<Settings, "certificateAuthorities" | "insecure" | "proxy" | "timeout">;

/** How the other side of TLS is checked, for Node and undici alike. */
export function tlsOptions({ certificateAuthorities: ca, insecure }: ConnectSettings): { rejectUnauthorized: boolean; ca?: string } {
  return { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
}
