import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocketClient } from "../../support/web-socket-client.js";
import { ourKey, WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("app", { fixture: "sockets" });
  await server.add("site", { files: { "index.html": "<p>page</p>" } });
});
beforeEach(() => server.text("/app/forget"));
afterAll(() => server.stop());

const app = (path: string) => `${server.url}/app${path}`;
const seen = async () => JSON.parse(await server.text("/app/seen")) as string[];

describe("a worker that accepts a WebSocket", () => {
  test("exchanges text and bytes of different sizes with the client", async () => {
    const client = await WebSocketClient.open(app("/echo"));
    expect(await client.ask("ä 🙂")).toBe("ä 🙂");
    expect(await client.ask("")).toBe("");
    expect(await client.ask(Buffer.from([0, 255]))).toEqual(Buffer.from([0, 255]));
    const text = "0123456789".repeat(100_000);
    expect(await client.ask(text)).toBe(text);
    const bytes = Buffer.alloc(1024 * 1024, 7);
    expect(bytes.equals((await client.ask(bytes)) as Buffer)).toBe(true);
    expect(await client.close(1000, "bye")).toEqual({ code: 1000, reason: "bye" });
  });

  test("sends each data type in the order of the send() calls", async () => {
    const client = await WebSocketClient.open(app("/kinds"));
    expect(await client.next()).toBe("text ä 🙂");
    expect(await client.next()).toEqual(Buffer.from([1, 2, 3]));
    expect(await client.next()).toEqual(Buffer.from([2, 1]));
    expect(await client.next()).toEqual(Buffer.from([0, 0]));
    expect(await client.next()).toEqual(Buffer.from("blob"));
    expect(await client.next()).toBe("");
    expect(await client.next()).toBe("12");
    expect(await client.next()).toBe("x".repeat(300_000));
    await client.close();
  });

  test("broadcasts a message to 20 clients", async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => WebSocketClient.open(app("/chat"))));
    clients[3]?.send("hello");
    expect(await Promise.all(clients.map((client) => client.next()))).toEqual(clients.map(() => "hello"));
    await Promise.all(clients.map((client) => client.close()));
    await expect.poll(() => server.text("/app/peers")).toBe("0");
  });

  test("adds its headers to the handshake response, except protocol headers", async () => {
    const client = new WebSocketClient(app("/headers"), [], {
      headers: { cookie: "a=1; runtime_api_key=secret", "x-api-key": "k", authorization: `Bearer ${ourKey}` },
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) =>
      client.webSocket.once("upgrade", (response) => resolve(response.headers)),
    );
    expect(headers).toMatchObject({ "set-cookie": ["a=1"], "x-own": "yes", upgrade: "websocket", connection: "Upgrade" });
    expect(headers["x-request-id"]).toMatch(/^request-/);
    const received = JSON.parse((await client.next()) as string) as Record<string, string>;
    expect(received).toMatchObject({
      upgrade: "websocket",
      connection: "Upgrade",
      cookie: "a=1",
      "x-base": "/app",
      "sec-websocket-version": "13",
    });
    expect(Object.keys(received)).not.toContain("x-api-key");
    expect(Object.keys(received)).not.toContain("authorization");
    await client.close();
  });

  test("selects one of the subprotocols that the client offers", async () => {
    const client = await WebSocketClient.open(app("/protocol"), ["chat.v1", "chat.v2"]);
    expect(client.webSocket.protocol).toBe("chat.v2");
    expect(await client.ask("which?")).toBe("chat.v2");
    await client.close();
    const other = new WebSocketClient(app("/protocol"), ["other"]);
    const [error] = await new Promise<[Error]>((resolve) => other.webSocket.once("error", (cause) => resolve([cause])));
    expect(error.message).toBe("Server sent no subprotocol");
    const plain = await WebSocketClient.open(app("/protocol"));
    expect(plain.webSocket.protocol).toBe("");
    await plain.close();
  });

  test("receives the handshake without a redirect when the path has no final slash", async () => {
    expect((await WebSocketClient.refusal(`${server.url}/app`)).text).toBe("ok");
  });

  test("has standard WebSocket objects with Cloudflare's attachment methods", async () => {
    const client = await WebSocketClient.open(app("/instance"));
    expect(JSON.parse((await client.next()) as string)).toEqual([
      true,
      true,
      true,
      true,
      true,
      "arraybuffer",
      "function",
      "function",
      true,
      "[object WebSocket]",
      "a",
    ]);
    await client.close();
  });

  test("can use both ends of one WebSocketPair", async () => {
    expect(JSON.parse(await server.text("/app/inside"))).toEqual(["echo hello", "right 4000 enough", "left 4000 enough true 33"]);
    expect(await server.text("/app/unaccepted")).toBe("TypeError: accept() must be called before send().");
  });

  test("keeps a WebSocket open and logs the error when a listener throws", async () => {
    const client = await WebSocketClient.open(app("/handler-throws"));
    expect(await client.ask("1")).toBe("still here: 1");
    expect(await client.ask("2")).toBe("still here: 2");
    await client.close();
    await expect
      .poll(() => server.log.filter(({ msg }) => /thrown by a listener|rejected by a listener/.test(msg)).length)
      .toBeGreaterThanOrEqual(4);
    expect(server.log.some(({ msg }) => msg.includes("escaped"))).toBe(false);
  });
});

describe("a worker that does not accept a WebSocket handshake", () => {
  test("can reject the handshake with status, headers and body", async () => {
    const answer = await WebSocketClient.refusal(app("/refuse"));
    expect(answer).toMatchObject({ status: 401, text: "who are you?" });
    expect(answer.headers).toMatchObject({ "www-authenticate": "Bearer", connection: "close" });
  });

  test("can stream 4 MB as its response to the handshake", async () => {
    const answer = await WebSocketClient.refusal(app("/stream"));
    expect(answer.status).toBe(403);
    expect(answer.text).toBe("a".repeat(64 * 65_536));
  });

  test("can be a static site, which responds with a page", async () => {
    expect(await WebSocketClient.refusal(`${server.url}/site/`)).toMatchObject({ status: 200, text: "<p>page</p>" });
  });

  test("causes a 504 when its response exceeds the timeout", async () => {
    await server.add("slow", { fixture: "sockets", manifest: { timeout: "200ms" } });
    const answer = await WebSocketClient.refusal(`${server.url}/slow/slow`);
    expect(answer.status).toBe(504);
    expect(answer.text).toContain("WORKER_TIMEOUT");
  });

  test.each(["/no-socket", "/not-an-end", "/used", "/throw"])(
    "causes a 502 when its response is invalid (worker path %s)",
    async (path) => {
      const answer = await WebSocketClient.refusal(app(path));
      expect(answer.status).toBe(502);
      expect(answer.text).toContain("WORKER_BAD_RESPONSE");
    },
  );

  test("causes a 502 when it returns the same end of a WebSocketPair twice", async () => {
    const client = await WebSocketClient.open(app("/twice"));
    await client.closed;
    expect((await WebSocketClient.refusal(app("/again"))).status).toBe(502);
  });

  test("causes a 502 when it returns a WebSocket for a request without an upgrade", async () => {
    expect(await server.refusal("/app/echo")).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
    await expect.poll(seen).toEqual(["error", "close 1006  false"]);
    expect(await server.text("/app/")).toBe("ok");
  });
});

describe("the closing of a WebSocket", () => {
  test.each([
    ["1000 and a reason", "?code=1000&reason=done", { code: 1000, reason: "done" }],
    ["1011", "?code=1011", { code: 1011, reason: "" }],
    ["4999", "?code=4999", { code: 4999, reason: "" }],
    ["no code", "", { code: 1005, reason: "" }],
  ])("sends the client the code and reason from the worker (close with %s)", async (_, query, expected) => {
    const client = await WebSocketClient.open(app(`/close${query}`));
    client.send("close!");
    expect(await client.closed).toEqual(expected);
    await expect.poll(seen).toEqual(["close!", "state 2", `close ${expected.code} ${expected.reason} true`]);
  });

  test.each([
    ["0", "InvalidAccessError"],
    ["999", "InvalidAccessError"],
    ["1005", "InvalidAccessError"],
    ["1006", "InvalidAccessError"],
    ["1015", "InvalidAccessError"],
    ["2999", "InvalidAccessError"],
    ["5000", "InvalidAccessError"],
    [`1000&reason=${"ä".repeat(62)}`, "SyntaxError"],
  ])("throws the error that the WebSocket standard defines for the code %s", async (query, name) => {
    const client = await WebSocketClient.open(app(`/close?code=${query}`));
    expect(await client.ask("close!")).toMatch(new RegExp(`^${name}: `));
    await client.close();
    await expect.poll(seen).toHaveLength(2);
  });

  test("reaches the worker with code and reason when the client closes", async () => {
    const client = await WebSocketClient.open(app("/echo"));
    await client.close(4001, "leaving ä");
    await expect.poll(seen).toEqual(["close 4001 leaving ä true"]);
  });

  test("reaches the client after all earlier messages of the worker", async () => {
    const client = await WebSocketClient.open(app("/messages?count=5000"));
    for (let index = 0; index < 5000; index += 1) expect(await client.next()).toBe(String(index));
    expect(await client.closed).toEqual({ code: 1000, reason: "all said" });
  });

  test("is reported to the worker as 1006 when the client's connection is lost", async () => {
    const client = await WebSocketClient.open(app("/echo"));
    client.webSocket.terminate();
    await expect.poll(seen).toEqual(["error", "close 1006  false"]);
  });

  test("reports 1006 to the worker if the client disconnects during the handshake", async () => {
    const client = new WebSocketClient(app("/late"));
    await expect.poll(() => client.webSocket.readyState).toBe(0);
    setTimeout(() => client.webSocket.terminate(), 100);
    await client.closed;
    await expect.poll(seen).toEqual(["error", "close 1006  false"]);
  });
});
