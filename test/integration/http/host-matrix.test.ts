import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../src/shared/errors.js";
import type { LogEntry } from "../../../src/shared/contract/worker-logs.js";
import { connect } from "../../support/connect.js";
import { exchange, openConnection } from "../../support/exchange.js";
import { expectRefusal, type Answer } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { uploadWorker } from "../../support/upload-worker.js";
import { hostVariables, restrictedSpellings, spellings, type Outcome, type Spelling } from "./host-spellings.js";

/** Responds with its name. Over a WebSocket, sends the name and closes the connection. */
const app = (label: string) => `
export default {
  fetch(request) {
    if (request.headers.get("upgrade") === "websocket") {
      const pair = new WebSocketPair();
      pair[1].accept();
      pair[1].send("app ${label}");
      pair[1].close(1000);
      return new Response(null, { status: 101, webSocket: pair[0] });
    }
    const { pathname } = new URL(request.url);
    return Response.json({ app: "${label}", path: pathname }, { headers: { "cache-control": "public, max-age=60" } });
  },
};`;

const surfaces = [
  ["root", "/"],
  ["API", "/api/health"],
  ["panel", "/cpanel/"],
  ["path of beta", "/beta/x"],
  ["WebSocket", "/"],
  ["WebSocket below the path of beta", "/beta/x"],
] as const;
type Surface = (typeof surfaces)[number][0];

/** Expected result: a worker with the path that it receives, a page, the location of a redirect, or an error code. */
type Expected = { readonly app: string; readonly path: string } | "API" | "panel" | "start page" | `http://${string}` | ErrorCode;

const ownPath = (name: string) => ({ app: name, path: "/beta/x" });
const betaBelowPath = { app: "beta", path: "/x" } as const;
/** Expected results at the daemon's own hosts, in the order of `surfaces`. The start page ignores an upgrade. */
const expectedOfDaemon: Readonly<Record<"daemon" | "panel", readonly Expected[]>> = {
  daemon: ["start page", "API", "http://panel.test", betaBelowPath, "start page", betaBelowPath],
  panel: ["http://panel.test", "API", "panel", "NOT_FOUND", "http://panel.test", "NOT_FOUND"],
};
const refusals = { "no worker": "NOT_FOUND", invalid: "INVALID_REQUEST", "not served": "HOST_NOT_SERVED" } as const;

function expectedOf(outcome: Outcome, index: number): Expected {
  if (outcome === "no worker" || outcome === "invalid" || outcome === "not served") return refusals[outcome];
  if (outcome === "daemon" || outcome === "panel") return expectedOfDaemon[outcome][index] as Expected;
  return { app: outcome, path: surfaces[index]?.[1] ?? "" };
}

const isHandshake = (surface: Surface) => surface.startsWith("WebSocket");

function headOf({ lines, origin, version }: Spelling, [surface, path]: (typeof surfaces)[number], requestId: string): string {
  const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="];
  const more = [`X-Request-Id: ${requestId}`, "Accept: text/html", ...(isHandshake(surface) ? upgrade : [])];
  return [`GET ${origin}${path} HTTP/${version}`, ...lines, ...more, "", ""].join("\r\n");
}

/** Opens a WebSocket and returns the bytes of its messages. If the handshake fails, returns the HTTP response. */
async function handshake(url: string, head: string): Promise<Answer> {
  const connection = await openConnection(url);
  try {
    connection.socket.write(head, "latin1");
    const answer = await connection.nextAnswer();
    if (answer.status !== 101) return answer;
    // A close frame with an empty mask.
    connection.socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
    return { ...answer, text: await connection.closed() };
  } finally {
    connection.socket.destroy();
  }
}

function expectAnswer(answer: Answer, surface: Surface, expected: Expected, hint: string): void {
  if (typeof expected === "object") {
    if (isHandshake(surface)) expect([answer.status, /app [a-z ]+/.exec(answer.text)?.[0]], hint).toEqual([101, `app ${expected.app}`]);
    else expect([answer.status, JSON.parse(answer.text)], hint).toEqual([200, expected]);
  } else if (expected === "API")
    expect([answer.status, JSON.parse(answer.text)], hint).toEqual([200, { ok: true, status: "healthy", version: expect.any(String) }]);
  else if (expected === "panel") expect([answer.status, answer.text], hint).toEqual([200, expect.stringContaining('<div id="root">')]);
  else if (expected === "start page")
    expect([answer.status, answer.text], hint).toEqual([200, expect.stringContaining("<h1>This server runs workers</h1>")]);
  else if (expected.startsWith("http://")) {
    expect(answer.status, hint).toBe(308);
    expect(answer.headers["location"], hint).toMatch(/^http:\/\/panel\.test(?::\d+)?\/cpanel\/$/);
  } else expectRefusal(answer, expected as ErrorCode, hint);
}

const idsOf = (entries: readonly LogEntry[]) => entries.flatMap(({ request }) => request?.requestId ?? []).toSorted();

const titleOf = ({ outcome, lines, origin, version }: Spelling) =>
  `${outcome}: ${JSON.stringify([...(origin === "" ? [] : [origin]), ...lines, version]).slice(0, 90)}`;
const rowsOf = (list: readonly Spelling[]) => list.map((spelling) => [titleOf(spelling), spelling] as const);

async function startWithHosts(env: Record<string, string> = {}) {
  const daemon = await startDaemon({ env: { ...hostVariables, ...env } });
  const client = connect(daemon.url, daemon.rootKey);
  await uploadWorker(client, "alpha", { "index.js": app("alpha") });
  await uploadWorker(client, "beta", { "index.js": app("beta") });
  await uploadWorker(client, "@team/alpha", { "index.js": app("team alpha") });
  const hosts = { "alpha.test": "alpha", "münchen.test": "alpha", "old.test": "alpha", "beta.test": "beta", "inner.alpha.test": "beta" };
  for (const [host, worker] of Object.entries(hosts)) await client.hosts.add({ params: { host }, body: { worker } });
  return { daemon, client };
}

async function expectRow(daemon: TestDaemon, spelling: Spelling, onRequest: (expected: Expected) => string): Promise<void> {
  for (const [index, surface] of surfaces.entries()) {
    // HTTP/1.0 has no upgrades.
    if (isHandshake(surface[0]) && spelling.version === "1.0") continue;
    const expected = expectedOf(spelling.outcome, index);
    const head = headOf(spelling, surface, onRequest(expected));
    const answer = await (isHandshake(surface[0]) ? handshake(daemon.url, head) : exchange(daemon.url, head));
    expectAnswer(answer, surface[0], expected, `${surface[0]} with ${JSON.stringify(spelling.lines)}`);
  }
}

describe("requests with each spelling of the Host header", () => {
  let daemon: TestDaemon;
  let client: ReturnType<typeof connect>;
  /** IDs of the requests that each worker must have served, by worker. */
  const served: Record<string, string[]> = { alpha: [], beta: [], "@team/alpha": [] };
  let count = 0;
  beforeAll(async () => {
    ({ daemon, client } = await startWithHosts());
  });
  afterAll(() => daemon.dispose());

  test.each(rowsOf(spellings))("receive the response of the requested host (result and Host lines: %s)", async (_title, spelling) => {
    await expectRow(daemon, spelling, (expected) => {
      count += 1;
      const requestId = `matrix-${count}`;
      if (typeof expected === "object") served[expected.app === "team alpha" ? "@team/alpha" : expected.app]?.push(requestId);
      return requestId;
    });
  });

  test("appear only in the log of the worker that served the request", async () => {
    expect(count).toBeGreaterThan(300);
    for (const [worker, ids] of Object.entries(served)) {
      expect(ids.length, worker).toBeGreaterThan(10);
      const read = async () => idsOf((await client.logs.list({ query: { worker, source: "request", limit: 10_000 } })).entries);
      await expect.poll(read).toEqual(ids.toSorted());
    }
  });
});

describe("requests when RUNTIME_ALLOWED_HOSTS is set", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    ({ daemon } = await startWithHosts({ RUNTIME_ALLOWED_HOSTS: "127.0.0.1,*.inner.test" }));
  });
  afterAll(() => daemon.dispose());

  test.each(rowsOf(restrictedSpellings))(
    "receive the response of the requested host (result and Host lines: %s)",
    async (_title, spelling) => {
      await expectRow(daemon, spelling, () => "restricted");
    },
  );
});

/** Text of 20,000 bytes, so that compressed copies are stored. Both sites have files of the same names and sizes. */
const page = (letter: string) => `<title>site ${letter}</title>${`<p>text of ${letter}</p>`.repeat(1000)}`;

const both = (answer: unknown) => [answer, answer];

function textOf({ headers, text }: Answer): string {
  const bytes = Buffer.from(text, "latin1");
  const coding = headers["content-encoding"];
  return (coding === "gzip" ? gunzipSync(bytes) : coding === "br" ? brotliDecompressSync(bytes) : bytes).toString();
}

describe("several requests on one connection", () => {
  let daemon: TestDaemon;
  let client: ReturnType<typeof connect>;
  let connection: Awaited<ReturnType<typeof openConnection>>;
  beforeAll(async () => {
    ({ daemon, client } = await startWithHosts());
    for (const letter of ["a", "b"]) {
      await uploadWorker(client, `site-${letter}`, { "index.html": page(letter), "text.txt": page(letter) });
      await client.hosts.add({ params: { host: `${letter}.site.test` }, body: { worker: `site-${letter}` } });
    }
    connection = await openConnection(daemon.url);
  });
  afterAll(async () => {
    connection.socket.destroy();
    await daemon.dispose();
  });

  async function ask(host: string, path: string, headers: readonly string[] = []): Promise<Answer> {
    connection.socket.write([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, "", ""].join("\r\n"));
    return connection.nextAnswer();
  }
  /** The responses to two spellings of one host. */
  const appsAt = async () => [await appAt("new.test"), await appAt("NEW.test.:80")];
  const appAt = async (host: string) => {
    const { status, text } = await ask(host, "/beta/x");
    return status === 200 ? (JSON.parse(text) as Exclude<Expected, string>) : status;
  };

  test("receive responses of the requested host when hosts alternate", async () => {
    const expected = {
      "alpha.test": ownPath("alpha"),
      "beta.test": ownPath("beta"),
      "main.test": betaBelowPath,
      "alpha--team.apps.test": ownPath("team alpha"),
      "panel.test": 404,
      "ALPHA.test.:8": ownPath("alpha"),
      "nobody.apps.test": 404,
    };
    for (let round = 0; round < 20; round += 1)
      for (const [host, answer] of Object.entries(expected)) expect(await appAt(host), `round ${round} at ${host}`).toEqual(answer);
    expect((await ask("panel.test", "/api/health")).text).toContain('"healthy"');
  });

  test("receive pipelined responses in order, each from the requested host", async () => {
    const hosts = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? "alpha" : "beta"));
    connection.socket.write(hosts.map((name) => `GET / HTTP/1.1\r\nHost: ${name}.test\r\n\r\n`).join(""));
    const apps: unknown[] = [];
    for (let index = 0; index < hosts.length; index += 1)
      apps.push((JSON.parse((await connection.nextAnswer()).text) as { app: string }).app);
    expect(apps).toEqual(hosts);
  });

  test.each(["identity", "gzip", "br"])("receive files of the requested site with the content coding %s", async (coding) => {
    const etags = new Map<string, string>();
    const bodies = new Map<string, string>();
    for (let round = 0; round < 6; round += 1)
      for (const letter of ["a", "b"])
        for (const path of ["/", "/text.txt"]) {
          const answer = await ask(`${letter}.site.test`, path, [`Accept-Encoding: ${coding}`]);
          expect(answer.status).toBe(200);
          expect(textOf(answer), `${letter}${path}`).toBe(page(letter));
          etags.set(letter + path, answer.headers["etag"] as string);
          bodies.set(letter + path, answer.text);
        }
    for (const [place, etag] of etags) {
      const [letter = "", path] = [place[0], place.slice(1)];
      const other = letter === "a" ? "b" : "a";
      const conditional = [`Accept-Encoding: ${coding}`, `If-None-Match: ${etag}`];
      expect((await ask(`${letter}.site.test`, path, conditional)).status, place).toBe(304);
      const foreign = await ask(`${other}.site.test`, path, conditional);
      expect([foreign.status, foreign.text === bodies.get(other + path)], `${place} at the other host`).toEqual([200, true]);
    }
  });

  test("are served by the new worker within 1 s after a host is added or removed", async () => {
    const params = { host: "new.test" };
    const live = { timeout: 1000, interval: 10 };
    // The daemon has served both spellings before the first change.
    expect(await appsAt()).toEqual(both(betaBelowPath));
    for (const worker of ["alpha", "beta", "alpha"]) {
      await client.hosts.add({ params, body: { worker } });
      await expect.poll(appsAt, live).toEqual(both(ownPath(worker)));
      await client.hosts.remove({ params });
      await expect.poll(appsAt, live).toEqual(both(betaBelowPath));
    }
  });
});
