import type { Agent, IncomingMessage } from "node:http";
import { urlToHttpOptions } from "node:url";
import { tlsOptions, type ConnectSettings, type OutgoingRequest } from "./outgoing-request.js";
import { toResponse, type RawResponse } from "./raw-response.js";

/**
 * Node's HTTP client, for requests and answers that are held whole. Keeps its connection for the next request. Need not be closed: no
 * process waits for an idle connection of Node's agent. To destroy one would make Node set up process.stderr first.
 */
export class PlainClient {
  readonly #origin: URL;
  readonly #settings: ConnectSettings;
  #agent: Agent | undefined;

  constructor(origin: string, settings: ConnectSettings) {
    this.#origin = new URL(origin);
    this.#settings = settings;
  }

  /** Sends one request and reads its answer. Rejects soon after the signal aborts. */
  async ask(request: OutgoingRequest, body: string | undefined, until: AbortSignal): Promise<RawResponse> {
    // Not both: TLS takes as long to load as everything else here.
    const protocol = this.#origin.protocol === "https:" ? await import("node:https") : await import("node:http");
    until.throwIfAborted();
    this.#agent ??= await this.#openAgent(new protocol.Agent({ keepAlive: true, ...tlsOptions(this.#settings) }));
    const framing = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const options = {
      ...urlToHttpOptions(this.#origin),
      ...request,
      headers: { ...request.headers, ...framing },
      agent: this.#agent,
    };
    return new Promise((resolve, reject) => {
      const onResponse = (response: IncomingMessage) => readWhole(response).then(resolve, reject);
      const sent = protocol.request(options, onResponse).on("error", reject);
      // Not as an option of the request: Node then watches for the ends of both its streams, too.
      until.addEventListener("abort", () => sent.destroy(until.reason as Error));
      sent.end(body);
    });
  }

  /** The agent, with its connections led through the proxy when there is one. */
  async #openAgent(agent: Agent): Promise<Agent> {
    const { proxy, timeout } = this.#settings;
    if (proxy === undefined) return agent;
    const { openTunnel } = await import("./tunnel.js");
    agent.createConnection = (options, done) => {
      const { host, port, servername } = options as { host: string; port: number; servername: string };
      openTunnel({ ...tlsOptions(this.#settings), proxy: proxy.value, host, port, servername, timeoutMs: timeout.value }, done as never);
      return undefined;
    };
    return agent;
  }
}

function readWhole(response: IncomingMessage): Promise<RawResponse> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    response.on("data", (chunk: Buffer) => void chunks.push(chunk));
    response.on("end", () => resolve(toResponse(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))));
    response.on("error", reject);
  });
}
