import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { createSender } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Responds with all headers of its request. */
const receiver = `export default { fetch: (request) => Response.json([...request.headers]) };`;

describe("a worker whose client sends an API key outside of the usual headers", () => {
  let daemon: TestDaemon;
  let send: ReturnType<typeof createSender>;
  let key: string;

  beforeAll(async () => {
    daemon = await startDaemon();
    const client = connect(daemon.url, daemon.rootKey);
    await uploadWorker(client, "receiver", { "index.js": receiver });
    key = (await client.keys.create({ body: { name: "operator", role: "admin" } })).data.key;
    send = createSender(daemon.url);
  });
  afterAll(async () => {
    await send.close();
    await daemon.dispose();
  });

  it.each<[string, (key: string) => Record<string, string>]>([
    ["Authorization: Token", (secret) => ({ authorization: `Token ${secret}` })],
    ["a quoted bearer token", (secret) => ({ authorization: `Bearer "${secret}"` })],
    ["the bare value of Authorization", (secret) => ({ authorization: secret })],
    ["X-Api-Token", (secret) => ({ "x-api-token": secret })],
    ["a referrer with the key in its query", (secret) => ({ referer: `http://a/?key=${secret}` })],
    ["a cookie of another name", (secret) => ({ cookie: `theme=dark; key=${secret}; lang=en` })],
    ["X-Forwarded-For", (secret) => ({ "x-forwarded-for": secret })],
    ["X-Forwarded-Host", (secret) => ({ "x-forwarded-host": secret })],
  ])("does not receive the key (sent as: %s)", async (_, headersOf) => {
    const { status, text } = await send({ path: "/receiver/", headers: { ...headersOf(key), "x-other": "kept" } });
    expect(status).toBe(200);
    expect(text).not.toContain(key.slice(0, 20));
    expect(JSON.parse(text)).toContainEqual(["x-other", "kept"]);
  });

  it("receives other cookies, and texts that start like an API key but are too short", async () => {
    const headers = { cookie: `theme=dark; key=${key}; lang=en`, authorization: "Token rtk_short" };
    const { text } = await send({ path: "/receiver/", headers });
    expect(JSON.parse(text)).toContainEqual(["cookie", "theme=dark; lang=en"]);
    expect(JSON.parse(text)).toContainEqual(["authorization", "Token rtk_short"]);
  });
});
