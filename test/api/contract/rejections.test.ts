import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCodesOf, permissionsFor, type EndpointDefinition } from "../../../src/shared/contract/endpoint.js";
import { operations } from "../../../src/shared/contract/index.js";
import type { ErrorCode } from "../../../src/shared/errors.js";
import { rolePermissions } from "../../../src/shared/permissions.js";
import { expectRefusal, type Call } from "../../support/send.js";
import { openContractHarness, pathOf, type ContractHarness } from "./contract-harness.js";

let harness: ContractHarness;
let before: unknown;

beforeAll(async () => {
  harness = await openContractHarness();
  before = await harness.snapshot();
});

afterAll(() => harness.close());

type Refusal = readonly [hint: string, call: Partial<Call>, code: ErrorCode];

/** Calls an operation once for each deviation from its valid input. Expects that the daemon rejects each call and changes nothing. */
async function expectRefusals(id: string, endpoint: EndpointDefinition, refusals: readonly Refusal[]): Promise<void> {
  expect(refusals.length).toBeGreaterThan(0);
  for (const [hint, call, code] of refusals) {
    const answer = await harness.send({ ...exampleCall(id, endpoint), ...call });
    expectRefusal(answer, code, `${id}, ${hint}`);
    expect(errorCodesOf(endpoint), `${id} promises`).toContain(code);
  }
  expect(await harness.snapshot(), `a call of ${id} was refused and changed something all the same`).toEqual(before);
}

const ownOrigin = () => new URL(harness.daemon.url).origin;

function exampleCall(id: string, endpoint: EndpointDefinition): Call {
  const { params, query, body, upload, fields } = harness.examples[id] ?? {};
  const call = { method: endpoint.method, path: pathOf(id, params) + (query === undefined ? "" : `?${query}`) };
  if (fields) return { ...call, body: formBody(fields) };
  if (upload) {
    const [head = "", tail = ""] = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n\r\n|\r\n--B--\r\n'.split("|");
    return { ...call, body: Buffer.concat([Buffer.from(head), upload, Buffer.from(tail)]) };
  }
  return body === undefined ? call : { ...call, body: JSON.stringify(body) };
}

function formBody(fields: Readonly<Record<string, string>>): string {
  const texts = Object.entries(fields).map(([name, value]) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  return `${texts.join("")}--B\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhello\r\n--B--\r\n`;
}

const isMultipart = (endpoint: EndpointDefinition) => endpoint.upload !== undefined || endpoint.form !== undefined;

function headersFor(endpoint: EndpointDefinition, headers: Record<string, string>): Record<string, string> {
  const type = isMultipart(endpoint) ? "multipart/form-data; boundary=B" : "application/json";
  return { ...(endpoint.body || isMultipart(endpoint) ? { "content-type": type } : {}), ...headers };
}

const asAdmin = (endpoint: EndpointDefinition, more: Record<string, string> = {}) =>
  headersFor(endpoint, { "x-api-key": harness.keys.admin, origin: ownOrigin(), ...more });
const cookie = (secret: string) => ({ cookie: `runtime_api_key=${encodeURIComponent(secret)}` });

/** Makes every part of the input invalid that the daemon checks after the credential. */
const otherwiseWrong = (endpoint: EndpointDefinition): Partial<Call> => ({
  path: pathOf(operations.find((operation) => operation.endpoint === endpoint)?.id ?? "", {
    scope: "@other",
    name: "%2e%2e",
    version: "none",
    id: "none",
    index: "none",
    pid: "none",
    host: "a_b",
    key: "1-2",
    namespace: "none",
    instance: "%20",
  }),
  ...(endpoint.body || isMultipart(endpoint) ? { body: "{" } : {}),
});

test("the examples cover every operation of the contract and no other operation", () => {
  expect(Object.keys(harness.examples).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
});

const guarded = operations.filter(({ endpoint }) => endpoint.access !== "public");
const changing = operations.filter(({ endpoint }) => endpoint.method !== "GET");

describe("a call without a valid key", () => {
  test.each(guarded)("is rejected by the operation $id", async ({ id, endpoint }) => {
    const { expired, revoked } = harness.keys;
    const secrets = ["unknown", "rtk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", expired, revoked, "undefined", "k".repeat(600)];
    const carried: Record<string, string>[] = [
      {},
      { "x-api-key": "" },
      { authorization: "Basic cm9vdDpyb290" },
      { "x-runtime-internal": "true" },
      { cookie: "runtime_api_key=%E0%A4%A" },
      ...secrets.flatMap((secret) => [{ "x-api-key": secret }, { authorization: `Bearer ${secret}` }, cookie(secret)]),
    ];
    const refusals = carried.flatMap((headers): Refusal[] => [
      [JSON.stringify(headers), { headers: headersFor(endpoint, { ...headers, origin: ownOrigin() }) }, "AUTH_REQUIRED"],
    ]);
    const wrong: Refusal = ["all else wrong", { ...otherwiseWrong(endpoint), headers: { "x-api-key": expired } }, "AUTH_REQUIRED"];

    await expectRefusals(id, endpoint, [...refusals, wrong]);
  });
});

describe("a call without the required permission", () => {
  const needing = guarded.flatMap(({ id, endpoint }) => permissionsFor(endpoint).map((permission) => ({ id, endpoint, permission })));

  test.each(needing)("is rejected by the operation $id (missing: $permission)", async ({ id, endpoint, permission }) => {
    const roles = (["admin", "editor", "viewer"] as const).filter((role) => !rolePermissions[role].includes(permission));
    const secrets = [harness.keyWithout[permission], ...roles.map((role) => harness.keys[role])];

    const refusals = secrets.flatMap((secret): Refusal[] => [
      ["by header", { headers: headersFor(endpoint, { "x-api-key": secret, origin: ownOrigin() }) }, "PERMISSION_DENIED"],
      ["by cookie", { headers: headersFor(endpoint, { ...cookie(secret), origin: ownOrigin() }) }, "PERMISSION_DENIED"],
      ["internal", { headers: headersFor(endpoint, { "x-api-key": secret, "x-runtime-internal": "true" }) }, "PERMISSION_DENIED"],
      ["all else wrong", { ...otherwiseWrong(endpoint), headers: { "x-api-key": secret } }, "PERMISSION_DENIED"],
    ]);

    await expectRefusals(id, endpoint, refusals);
  });
});

describe("a call for a namespace that the key does not include", () => {
  test.each(operations.filter(({ endpoint }) => endpoint.namespaced))("is rejected by the operation $id", async ({ id, endpoint }) => {
    const headers = headersFor(endpoint, { "x-api-key": harness.keys.team, origin: ownOrigin() });
    const outside = ["@other", "_", "@teams", "@tea", "@TEAM", "team", "%40other", "_%2f@team"].map((scope) =>
      "scope" in (endpoint.params?.shape ?? {}) ? { scope, name: "app" } : { name: `${scope}%2fplugin` },
    );
    const refusals = [...outside, { scope: "_", name: "plain-plugin" }, { scope: "team", name: "@team" }].map((named): Refusal => {
      const path = pathOf(id, { ...harness.examples[id]?.params, ...named });
      return [path, { path, headers }, "NAMESPACE_DENIED"];
    });
    const wrong: Refusal = [
      "all else wrong",
      { ...otherwiseWrong(endpoint), headers: { "x-api-key": harness.keys.team } },
      "NAMESPACE_DENIED",
    ];

    await expectRefusals(id, endpoint, [...refusals, wrong]);
  });
});

describe("a call whose Origin header is missing or names another host", () => {
  test.each(changing)("is rejected by the operation $id", async ({ id, endpoint }) => {
    const { host } = new URL(ownOrigin());
    const foreign = [
      "null",
      "http://evil.example",
      `http://${host}.evil.example`,
      `http://evil.example/${host}`,
      `http://${host}@evil.example`,
    ];
    const tricky = [`http://evil.example#${host}`, `//${host}`, host, `http://${host}/`, `http://${host}, http://${host}`, `ftp://${host}`];
    const body = endpoint.body || isMultipart(endpoint) ? { body: "{" } : {};
    const credentials = [{ "x-api-key": harness.keys.admin }, cookie(harness.keys.admin), cookie(harness.daemon.rootKey)];

    const refusals = credentials.flatMap((credential): Refusal[] => [
      ["no Origin", { headers: headersFor(endpoint, credential) }, "CSRF_ORIGIN_REQUIRED"],
      ["no Origin, broken body", { ...body, headers: headersFor(endpoint, credential) }, "CSRF_ORIGIN_REQUIRED"],
      ...[...foreign, ...tricky].map((origin): Refusal => [
        origin,
        { headers: headersFor(endpoint, { ...credential, origin }) },
        "CSRF_ORIGIN_MISMATCH",
      ]),
      ...["TRUE", "1", "yes", "true, true", "false"].map((internal): Refusal => [
        `X-Runtime-Internal: ${internal}`,
        { headers: headersFor(endpoint, { ...credential, "x-runtime-internal": internal }) },
        "CSRF_ORIGIN_REQUIRED",
      ]),
      ["GET in disguise", { headers: headersFor(endpoint, { ...credential, "x-http-method-override": "GET" }) }, "CSRF_ORIGIN_REQUIRED"],
    ]);

    await expectRefusals(id, endpoint, refusals);
  });
});

describe("a call with invalid path parameters", () => {
  const badNames = [
    "%2e%2e",
    "..",
    ".",
    "%2e",
    ".git",
    "..%2f..%2fx",
    "a%2f..%2f..%2fx",
    "a%5cb",
    "a%00b",
    "a%0d%0ab",
    "%",
    "%ff",
    "%252e%252e",
  ];
  const oddNames = ["App", "a%20b", "%F0%9F%98%80", "__proto__", "a".repeat(300), "@team", "@team%2fapp%2fx", "~app", "*"];
  const badWholeNames = [
    "@team%2f",
    "@team%2f..",
    "@team%2f%2e%2e%2fplugin",
    "@%2fplugin",
    "%2fplugin",
    "@team%5cplugin",
    "..%2fp",
    "_%2fplugin",
  ];
  const badValues: Readonly<Record<string, readonly string[]>> = {
    scope: ["team", "%2e%2e", "@%2e%2e", "@team%2fapp", "@", "@Team", "__", "_%2f_", "@team%2f..", "%40team%2f..%2f@other"],
    name: [...badNames, ...oddNames, "@team%2fapp"],
    wholeName: [...badNames, ...oddNames, ...badWholeNames],
    version: [
      "%2e%2e",
      "1",
      "1.0",
      "v1.0.0",
      "01.0.0",
      "1.0.0%2f..",
      "1.0.0%00",
      "Latest",
      "^1.0.0",
      "*",
      "%ff",
      `1.0.0-${"a".repeat(300)}`,
    ],
    key: ["1A", "A-B", "A%20B", "%2e%2e", "A%00", "A%3d", "%ff", "%C3%84", "A%2fB", "A".repeat(129)],
    namespace: ["team", "*", "@", "@Team", "@team%2fapp", "%2e%2e", "_", "%ff"],
    host: ["a_b", "127.0.0.1", "shop.test%3a80", "*.test", "-a.test", "a..test", "%2e%2e", "%ff", "a".repeat(64)],
    instance: ["a%20b", "a%2fb", "%00", "%ff", "*", "a".repeat(256)],
    index: ["-1", "+1", "1.0", "1e3", "01", "0x1", "%31%20", "9999999", "abc", "%2e%2e", "1%00", "1;2"],
    pid: ["0", "-1", "+1", "1.0", "1e3", "01", "0x1", "%31%20", "99999999999", "self", "%2e%2e", "1%00", "1;2"],
    id: ["0", "-1", "+1", "1.0", "1e3", "01", "0x1", "%31%20", "9007199254740993", "99999999999999999999", "abc", "%2e%2e", "1%00", "1;2"],
  };

  test.each(operations.filter(({ endpoint }) => endpoint.params))("is rejected by the operation $id", async ({ id, endpoint }) => {
    const names = Object.keys(endpoint.params?.shape ?? {});
    const refusals = names.flatMap((name) => {
      const code = endpoint.inputErrors?.[name === "scope" ? "name" : name] ?? "INVALID_REQUEST";
      const isWhole = name === "name" && !names.includes("scope");
      return (badValues[isWhole ? "wholeName" : name] ?? []).map((value): Refusal => {
        const path = pathOf(id, { ...harness.examples[id]?.params, [name]: value });
        return [`${name}=${value}`, { path, headers: asAdmin(endpoint) }, code];
      });
    });

    await expectRefusals(id, endpoint, refusals);
  });
});

describe("a call with an invalid body", () => {
  test.each(operations.filter(({ endpoint }) => endpoint.body))("is rejected by the JSON operation $id", async ({ id, endpoint }) => {
    const json = JSON.stringify(harness.examples[id]?.body);
    const tooLarge = Buffer.alloc(1024 * 1024 + 1, " ");
    const typed = (type: string): Refusal => [type, { headers: asAdmin(endpoint, { "content-type": type }) }, "UNSUPPORTED_MEDIA_TYPE"];
    const sent = (body: string | null, code: ErrorCode): Refusal => [String(body), { body, headers: asAdmin(endpoint) }, code];

    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=B",
      "text/json",
      "",
      "application/jsonp",
    ];
    await expectRefusals(id, endpoint, [
      ...types.map(typed),
      ...["application/json; charset=iso-8859-1", 'application/json; charset="utf-16"'].map(typed),
      ...["gzip", "br", "identity, gzip"].map((encoding): Refusal => [
        encoding,
        { headers: asAdmin(endpoint, { "content-encoding": encoding }) },
        "UNSUPPORTED_MEDIA_TYPE",
      ]),
      ...["{", "{]", "key=value", `${json}${json}`, `${json},`, "\0", `[${json}`, "'a'", "NaN"].map((body) => sent(body, "INVALID_JSON")),
      ...["null", "[]", "42", "true", '"text"', `[${json}]`].map((body) => sent(body, "INVALID_REQUEST")),
      sent(null, "INVALID_REQUEST"),
      ["too large", { body: tooLarge, headers: asAdmin(endpoint) }, "PAYLOAD_TOO_LARGE"],
      ["too large, in chunks", { body: Readable.from([tooLarge]), headers: asAdmin(endpoint) }, "PAYLOAD_TOO_LARGE"],
      ...(harness.examples[id]?.badBodies ?? []).map(([body, code]) => sent(JSON.stringify(body), code as ErrorCode)),
    ]);
  });

  test.each(operations.filter(({ endpoint }) => isMultipart(endpoint)))(
    "is rejected by the upload operation $id",
    async ({ id, endpoint }) => {
      await expectRefusals(id, endpoint, [
        ["JSON", { headers: asAdmin(endpoint, { "content-type": "application/json" }) }, "UNSUPPORTED_MEDIA_TYPE"],
        ["no boundary", { headers: asAdmin(endpoint, { "content-type": "multipart/form-data" }) }, "INVALID_MULTIPART"],
        ["compressed", { headers: asAdmin(endpoint, { "content-encoding": "gzip" }) }, "UNSUPPORTED_MEDIA_TYPE"],
        ["no body", { body: null, headers: { "x-api-key": harness.keys.admin, origin: ownOrigin() } }, "NO_FILE_PROVIDED"],
      ]);
    },
  );
});

describe("a call with valid input", () => {
  test.each(operations)("succeeds for the operation $id", async ({ id, endpoint }) => {
    const headers = headersFor(endpoint, { "x-api-key": harness.keys.admin, origin: ownOrigin() });
    // Uses HEAD for an event stream, because the response to GET never ends. HEAD returns the same headers.
    const method = endpoint.events && !endpoint.result ? "HEAD" : endpoint.method;

    const answer = await harness.send({ ...exampleCall(id, endpoint), method, headers });

    const { refusal } = harness.examples[id] ?? {};
    if (refusal === undefined) expect(answer.status, answer.text).toBe(endpoint.status);
    else expectRefusal(answer, refusal);
    expect(answer.headers["x-request-id"]).toBeDefined();
  });
});
