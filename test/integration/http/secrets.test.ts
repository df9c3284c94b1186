import { afterAll, beforeAll, expect, test } from "vitest";
import { exchange } from "../../support/exchange.js";
import { inUnforeseenFailure } from "../../support/in-unforeseen-failure.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { connect, uploadOf } from "../../support/connect.js";
import { createSender, type Call } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const rootKey = "root-secret-5b2f;=%";
const unknownKeys = [
  "unknown-secret-in-X-API-Key",
  "unknown-secret-in-Bearer",
  "unknown-secret-in-cookie",
  "unknown-secret-in-body",
] as const;

/** A worker that logs everything that it can read for a request, and returns the same text. */
const tellingWorker = `export default {
  fetch(request, env) {
    const seen = JSON.stringify({ headers: [...request.headers], url: request.url, env, process: process.env, argv: process.argv });
    console.log(seen);
    console.error(seen);
    if (new URL(request.url).pathname === "/throw") throw new Error(seen);
    return new Response(seen);
  },
};`;

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_ROOT_KEY: rootKey, RUNTIME_LOG_LEVEL: "trace" } });
  send = createSender(daemon.url);
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

test("the daemon never exposes an API key in its log, to a worker or in a response", async () => {
  const client = connect(daemon.url, rootKey);
  const { key, id } = (await client.keys.create({ body: { name: "a key", role: "admin" } })).data;
  const archive = await packFiles({ "manifest.yaml": manifestOf("telling", "1.0.0"), "index.js": tellingWorker });
  await client.workers.upload({ file: uploadOf("telling.tgz", archive) });
  const answers: string[] = [];
  const callWith = async (secret: string) => {
    for (const headers of carriersOf(secret))
      for (const target of ["/api/health", "/api/keys", "/api/nothing", "/telling/", "/telling/throw", "/nothing"])
        answers.push((await send({ path: target, headers })).text);
    for (const body of [`{"key":${JSON.stringify(secret)}`, JSON.stringify({ key: secret }), JSON.stringify({ key: [secret] })])
      answers.push((await send(signIn(body))).text);
    answers.push((await send({ path: `/api/health/live?key=${encodeURIComponent(secret)}` })).text);
    answers.push(
      (await exchange(daemon.url, `GET /api/health HTTP/1.1\r\nHost: a\r\nX-API-Key: ${secret}\r\nBroken Header: x\r\n\r\n`)).text,
    );
  };

  for (const secret of [rootKey, key, ...unknownKeys]) await callWith(secret);
  await failInside(key);
  await client.keys.revoke({ params: { id: String(id) } });
  await callWith(key);
  await daemon.stop();

  const output = daemon.output();
  expect(output).toContain('"call"');
  expect(output, "the worker's own output").toContain("x-request-id");
  for (const secret of [rootKey, key])
    for (const form of formsOf(secret)) {
      expect(output.includes(form), `the log has ${form}`).toBe(false);
      expect(answers.filter((answer) => answer.includes(form))).toEqual([]);
    }
  // An unknown value can be an app's own token, but the API must not log it.
  const ownLines = output.split("\n").filter((line) => !line.includes("telling"));
  for (const secret of unknownKeys) expect(ownLines.filter((line) => line.includes(secret))).toEqual([]);
});

function carriersOf(secret: string): Record<string, string>[] {
  return [
    { "x-api-key": secret },
    { authorization: `Bearer ${secret}` },
    { authorization: `bearer  ${secret}` },
    { cookie: `runtime_api_key=${encodeURIComponent(secret)}` },
    { cookie: `theme=dark; runtime_api_key="${encodeURIComponent(secret)}"; other=1` },
    { "x-api-key": "x", authorization: `Bearer ${secret}`, cookie: `runtime_api_key=${encodeURIComponent(secret)}` },
  ];
}

function formsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64"), JSON.stringify(secret).slice(1, -1)];
}

function signIn(body: string): Call {
  const headers = { "content-type": "application/json", origin: new URL(daemon.url).origin };
  return { method: "POST", path: "/api/admin/session", headers, body };
}

/** Makes the daemon fail while it handles a call with this key. */
async function failInside(key: string): Promise<void> {
  const answer = await inUnforeseenFailure(daemon, () =>
    send({
      method: "POST",
      path: "/api/workers/upload",
      headers: { "x-api-key": key, "content-type": "multipart/form-data; boundary=B", origin: new URL(daemon.url).origin },
      body: '--B\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n\r\nx\r\n--B--\r\n',
    }),
  );
  expect(answer.status).toBe(500);
}
