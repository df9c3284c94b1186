import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Metrics of a worker, or of all, before the first request. */
export const counts = {
  requests: {
    total: 0,
    perSecond: 0,
    failed: 0,
    failedPerSecond: 0,
    inFlight: 0,
    queued: 0,
    byStatus: { "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, aborted: 0 },
  },
  errors: { total: 0, byCode: {} },
  isolates: { running: 0, starting: 0, draining: 0 },
  memory: { rssBytes: 0, pssBytes: 0 },
  cpuSeconds: 0,
  requestBodyBytes: 0,
  responseBodyBytes: 0,
  openSockets: 0,
};
/** Principal of every caller of the fake daemon. */
export const principal = {
  id: 0,
  name: "root",
  keyPrefix: "root",
  role: "admin",
  permissions: ["workers:read", "plugins:read"],
  namespaces: ["*"],
};
export const usualAnswers: Readonly<Record<string, unknown>> = {
  "/.well-known/runtime": { name: "runtimed", api: "/api", version: "1.2.3", cpanel: "/cpanel", docs: "/docs" },
  "/api/admin/session": { authenticated: true, principal },
  "/api/health/ready": { ok: true, status: "ready", version: "1.2.3" },
  "/api/workers": [],
  "/api/plugins": [],
  "/api/workers/health": [],
  "/api/keys": { keys: [] },
  "/api/metrics/sparklines": [],
  "/api/metrics/history": {
    stepSeconds: 10,
    points: { at: [], requests: [], failed: [], p50Ms: [], p99Ms: [], memoryBytes: [], cpuSeconds: [], isolates: [] },
    markers: [],
  },
  "/api/metrics.json": {
    daemon: { version: "1.2.3", startedAt: 0, uptimeSeconds: 0, eventLoopLag: { p50Ms: 0, p99Ms: 0, maximumMs: 0 } },
    totals: counts,
    workers: [],
  },
};

export interface FakeDaemon {
  readonly url: string;
  /** Requests so far, such as `GET /api/workers`. */
  readonly requests: readonly string[];
  /** Makes all requests wait from now on. */
  readonly hold: () => void;
  /** Responds to waiting and all further requests. */
  readonly letGo: () => void;
  readonly close: () => void;
}

/** A response with any status and bytes, in place of a response with status 200 and JSON. */
export class WireAnswer {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    this.status = status;
    this.body = body;
  }

  static refusal(status: number, code: string, message: string): WireAnswer {
    return new WireAnswer(status, JSON.stringify({ error: { code, message } }));
  }
}

/**
 * Starts a server that sends responses that no real daemon sends, such as names with escape sequences. Omitted responses are those of a
 * daemon without workers. A test can change the responses at any time.
 */
export async function startFakeDaemon(answers: Readonly<Record<string, unknown>> = {}, port = 0): Promise<FakeDaemon> {
  const requests: string[] = [];
  let held: (() => void)[] | undefined;
  const server = createServer(({ method = "", url = "" }, response) => {
    const path = url.split("?")[0] ?? "";
    requests.push(`${method} ${path}`);
    const answer = () => {
      const body = { ...usualAnswers, ...answers }[path] ?? WireAnswer.refusal(404, "NOT_FOUND", "there is nothing here");
      const wire = body instanceof WireAnswer ? body : new WireAnswer(200, JSON.stringify(body));
      response.writeHead(wire.status, { "content-type": "application/json" });
      response.end(wire.body);
    };
    if (held) held.push(answer);
    else answer();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    hold: () => (held ??= []),
    letGo: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const answer of waiting) answer();
    },
    close: () => server.close().closeAllConnections(),
  };
}

/** Returns a worker as listed by the API. */
export function listedWorker(name: string, versions: readonly string[] = ["1.0.0"]) {
  return { name, path: `/srv/workers/${name}`, removable: true, source: "uploaded", versions, disabledVersions: [] };
}
