import type { TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import type { Client } from "undici";
import HttpClient from "undici/lib/dispatcher/client.js";
import { tlsOptions, type ConnectSettings } from "./outgoing-request.js";
import { openTunnel } from "./tunnel.js";

/**
 * undici's HTTP parser is WebAssembly. V8 would compile it once more, for speed, after the first answer, and the process would wait for
 * that at its end: 100 ms and more for nothing.
 */
const noWasmTierUp = "--wasm-tiering-budget=1000000000";

export interface StreamingOptions {
  readonly origin: string;
  readonly settings: ConnectSettings;
  /** Ends the exchange. */
  readonly until: AbortSignal;
}

type Connector = (
  options: { hostname: string; port: string; servername?: string },
  done: (...args: [null, TLSSocket] | [Error, null]) => void,
) => void;

function throughProxy(settings: ConnectSettings, { value: proxy }: { value: string }): Connector {
  return ({ hostname, port, servername = "" }, done) =>
    openTunnel(
      {
        ...tlsOptions(settings),
        proxy,
        host: hostname.replace(/^\[|\]$/g, ""),
        port: Number(port || 443),
        servername,
        timeoutMs: settings.timeout.value,
      },
      (error, socket) => (socket ? done(null, socket) : done(error ?? new Error("no connection"), null)),
    );
}

/** undici's HTTP client for one exchange, whose bodies stream with backpressure. Whoever opens it sets the time limits and destroys it. */
export function openClient({ origin, settings }: StreamingOptions): Client {
  setFlagsFromString(noWasmTierUp);
  return new HttpClient(origin, {
    connect:
      settings.proxy === undefined ? { timeout: settings.timeout.value, ...tlsOptions(settings) } : throughProxy(settings, settings.proxy),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
