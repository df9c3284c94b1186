import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { expectFailure } from "./expect-failure.js";
import { ShellSession } from "./shell-session.js";
import { discovery, standIn } from "./stand-in.js";

let daemon: TestDaemon;
let shell: ShellSession;
const key = { RUNTIMECTL_KEY: "some-key" };

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

describe("a stored API key of runtimectl", () => {
  test("is not sent to the target of a redirect", async () => {
    const seen: unknown[] = [];
    const thief = await standIn((request, response) => {
      seen.push(request.headers["x-api-key"]);
      response.end();
    });
    const url = await standIn((request, response) => {
      seen.push(request.headers["x-api-key"]);
      response.writeHead(307, { location: `${thief}${request.url}` }).end();
    });
    await expectFailure(shell, `workers list --url ${url}`, { status: 1, code: "REDIRECTED", env: key });
    expect(seen).toEqual([undefined]);
  });

  test.each(["//evil.example/api", "http://evil.example/api", "/../api", "/api?x=", "api", ""])(
    "is not sent to a daemon whose discovery document has the API path %j",
    async (api) => {
      const seen: unknown[] = [];
      const url = await standIn((request, response) => {
        seen.push(request.url, request.headers["x-api-key"]);
        response.setHeader("content-type", "application/json").end(discovery(api));
      });
      await expectFailure(shell, `workers list --url ${url}`, { status: 1, code: "DISCOVERY_REFUSED", env: key });
      expect(seen).toEqual(["/.well-known/runtime", undefined]);
    },
  );

  test("is not sent to an origin other than the origin of the profile", async () => {
    const url = await standIn((_request, response) => response.end(discovery("/api")));
    const message = await expectFailure(shell, `workers list --url ${url}`, { status: 4, code: "NOT_SIGNED_IN" });
    expect(message).toContain(`is for ${daemon.url} and is not sent to ${url}`);
  });

  test("is not sent in the request that discovers a changed API path", async () => {
    const seen: unknown[] = [];
    let base = "/first";
    const url = await standIn((request, response) => {
      seen.push([request.url, request.headers["x-api-key"]]);
      const principal = { id: 1, name: "a", keyPrefix: "a", role: "admin", permissions: [], namespaces: ["*"] };
      if (request.url === "/.well-known/runtime") response.end(discovery(base));
      else if (request.url === `${base}/plugins`) response.end("[]");
      else if (request.url === `${base}/admin/session`) response.end(JSON.stringify({ authenticated: true, principal }));
      else response.writeHead(404).end("nothing here");
    });
    await writeTree(shell.home, { "some.key": "some-key" });
    const config = { env: { RUNTIMECTL_CONFIG_DIR: `${shell.home}/moving` } };
    expect(await shell.run(`auth login --url ${url} --key-file some.key`, config)).toMatchObject({ status: 0 });
    seen.length = 0;
    expect(await shell.run("plugins list", config)).toMatchObject({ status: 0, stderr: "" });
    expect(seen).toEqual([["/first/plugins", "some-key"]]);
    base = "/second";
    seen.length = 0;
    expect(await shell.run("plugins list", config)).toMatchObject({ status: 0, stderr: "" });
    expect(seen).toEqual([
      ["/first/plugins", "some-key"],
      ["/.well-known/runtime", undefined],
      ["/second/plugins", "some-key"],
    ]);
  });

  test("is hidden in verbose output and in error messages", async () => {
    const secret = `rtk_${"s".repeat(43)}`;
    const verbose = await shell.run("workers list --verbose", { env: { RUNTIMECTL_KEY: secret } });
    expect(verbose.stderr).toContain("> GET");
    const argument = await shell.run(`workers list ${secret}`);
    expect(argument.status).toBe(2);
    expect(argument.stderr).toContain("revoke that key");
    for (const run of [verbose, argument]) expect(run.stdout + run.stderr).not.toContain("ssss");
  });
});

test("runtimectl escapes control characters in names that a server sends", async () => {
  const name = "\u001b]0;owned\u0007\u202eevil";
  const worker = { name, path: "/x", removable: true, source: "uploaded", versions: ["1.0.0"], disabledVersions: [] };
  const answers: Record<string, unknown> = { "/api/workers": [worker], "/api/workers/health": [] };
  const url = await standIn(({ url: path = "" }, response) =>
    response.end(path in answers ? JSON.stringify(answers[path]) : discovery("/api")),
  );
  for (const run of [
    await shell.run(`workers list --url ${url}`, { env: key }),
    await shell.run(`workers list --url ${url}`, { env: key, isTerminal: true }),
  ]) {
    expect(run.stdout).toContain("\\x1b]0;owned\\x07\\u{202e}evil");
    expect(run.stdout).not.toContain(name.slice(0, 2));
  }
  const json = await shell.run(`workers list --url ${url} --json`, { env: key });
  expect(JSON.parse(json.stdout)).toMatchObject({ workers: [{ name }] });
  expect(json.stdout).toMatch(/^[\u0020-\u007e]+\n$/);
});
