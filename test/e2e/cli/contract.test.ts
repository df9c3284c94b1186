import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { commandTree } from "../../../src/cli/reference.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;
const servers: ReturnType<typeof createServer>[] = [];

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => new Response('app') };",
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "guard/plugin.js": "export default {};",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

/** In an order in which each finds what it needs. */
const successes: Readonly<Record<string, string>> = {
  "auth login": "auth login --key-file root.key",
  "auth status": "auth status",
  "profile add": "profile add extra --url http://127.0.0.1:1",
  "profile list": "profile list",
  "profile use": "profile use default",
  "profile rm": "profile rm extra",
  status: "status",
  "workers upload": "workers upload app",
  "workers list": "workers list",
  "workers stats": "workers stats",
  "workers disable": "workers disable app@1.0.0",
  "workers restart": "workers restart app",
  "workers enable": "workers enable app@1.0.0",
  "workers logs": "workers logs app",
  "workers delete": "workers delete app --yes",
  "plugins upload": "plugins upload guard",
  "plugins list": "plugins list",
  "plugins loaded": "plugins loaded",
  "plugins disable": "plugins disable guard",
  "plugins enable": "plugins enable guard",
  "plugins reload": "plugins reload",
  "plugins delete": "plugins delete guard --yes",
  "keys create": "keys create --role viewer",
  "keys list": "keys list",
  "keys revoke": "keys revoke ID --yes",
  "keys meta": "keys meta",
  api: "api GET workers",
  help: "help exit-codes",
  "auth logout": "auth logout --profile spare",
};

/** They run until they are interrupted, and have tests of their own. */
const lasting = ["dev"];

test("every command is in this contract", async () => {
  expect([...Object.keys(successes), ...lasting].toSorted()).toEqual((await commandTree()).map(({ words }) => words).toSorted());
});

describe("with --json, stdout is exactly one document", () => {
  test.each(["in a pipe", "with CI set", "on a terminal"])(
    "%s",
    async (where) => {
      let id = 0;
      await shell.run(`profile add spare --url ${daemon.url}`);
      for (const words of Object.values(successes)) {
        const line = `${words.replace("ID", String(id))} --json`;
        const run =
          where === "on a terminal"
            ? await shell.runInTerminal(line)
            : await shell.run(line, where === "in a pipe" ? {} : { env: { CI: "true" } });
        expect(run, `${line}: ${run.stderr}${run.stdout}`).toMatchObject({ status: 0, stderr: "" });
        const document = JSON.parse(run.stdout) as { id?: number };
        expect(typeof document).toBe("object");
        if (words.startsWith("keys create")) id = document.id ?? 0;
      }
    },
    120_000,
  );
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const discovery = (api: string) => JSON.stringify({ name: "runtimed", api, version: "1.0.0", cpanel: "/cpanel/", docs: "/api/docs" });
const key = { RUNTIMECTL_KEY: "some-key" };

async function expectFailure(
  words: string,
  expected: { status: number; code: string },
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const run = await shell.run(`${words} --json`, { env });
  expect(run, `${words}: ${run.stderr}`).toMatchObject({ status: expected.status, stdout: "" });
  const document = JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "") as { error: { code: string; message: string } };
  expect(document.error.code).toBe(expected.code);
  expect(document.error.message).not.toBe("");
  return document.error.message;
}

describe("each kind of failure has its exit code, an error document on stderr, and an empty stdout", () => {
  test.each<[string, string, number, string]>([
    ["an unknown command", "wrokers", 2, "USAGE"],
    ["an unknown verb", "workers lsit", 2, "USAGE"],
    ["an unknown flag", "workers list --loud", 2, "USAGE"],
    ["a missing argument", "workers enable", 2, "USAGE"],
    ["one argument too many", "workers list all", 2, "USAGE"],
    ["a choice that is none", "keys create --role boss", 2, "USAGE"],
    ["a needed confirmation", "workers delete app", 2, "USAGE"],
    ["a needed prompt", "auth login", 2, "USAGE"],
    ["a URL with a path", "status --url http://127.0.0.1:1/cpanel/", 2, "USAGE"],
    ["an unknown profile", "status --profile nobody", 2, "USAGE"],
    ["a key file that is not there", "status --key-file nowhere", 2, "USAGE"],
    ["a duration that is none", "status --timeout soon", 2, "USAGE"],
    ["an unknown worker", "workers delete nobody --yes", 6, "WORKER_NOT_FOUND"],
    ["an unknown plugin", "plugins enable nobody", 6, "PLUGIN_NOT_FOUND"],
    ["a plugin's name with a version", "plugins disable guard@1.0.0", 2, "USAGE"],
    ["a plugin's deletion that nobody confirms", "plugins delete guard", 2, "USAGE"],
    ["a plugin's folder that is not there", "plugins upload nowhere", 6, "PATH_NOT_FOUND"],
    ["a folder that is not there", "workers upload nowhere", 6, "PATH_NOT_FOUND"],
    ["a folder without metadata", "workers upload .", 1, "MISSING_PACKAGE_NAME"],
    ["a host that is not there", "status --url http://127.0.0.1:1", 8, "UNREACHABLE"],
    ["an unknown host name", "status --url http://nowhere.invalid", 8, "UNREACHABLE"],
  ])("%s", async (_, words, status, code) => {
    await expectFailure(words, { status, code });
  });

  test("a key that the daemon does not know", async () => {
    await expectFailure("workers list", { status: 4, code: "AUTH_REQUIRED" }, key);
  });

  test("a file that is no archive", async () => {
    await writeTree(shell.home, { "broken.tgz": "not a tar" });
    await expectFailure("workers upload broken.tgz", { status: 1, code: "INVALID_ARCHIVE" });
  });

  test("a daemon that does not answer in time", async () => {
    const url = await serve(() => {});
    await expectFailure(`status --url ${url} --timeout 300ms`, { status: 8, code: "TIMEOUT" });
  });

  test("a daemon that ends the connection", async () => {
    const url = await serve((request) => request.socket.destroy());
    await expectFailure(`status --url ${url}`, { status: 8, code: "UNREACHABLE" });
  });

  test("a web server that is no daemon", async () => {
    const url = await serve((_request, response) => response.end("<html>"));
    await expectFailure(`status --url ${url}`, { status: 1, code: "UNEXPECTED_ANSWER" });
  });

  test("a proxy without its daemon", async () => {
    const url = await serve((_request, response) => response.writeHead(502).end("Bad Gateway"));
    await expectFailure(`status --url ${url}`, { status: 8, code: "UNEXPECTED_ANSWER" });
  });
});

describe("a key goes nowhere but to its daemon", () => {
  test("a redirect is not followed, and the key is not sent before the address has proved to be a daemon", async () => {
    const seen: unknown[] = [];
    const thief = await serve((request, response) => {
      seen.push(request.headers["x-api-key"]);
      response.end();
    });
    const url = await serve((request, response) => {
      seen.push(request.headers["x-api-key"]);
      response.writeHead(307, { location: `${thief}${request.url}` }).end();
    });
    await expectFailure(`workers list --url ${url}`, { status: 1, code: "REDIRECTED" }, key);
    expect(seen).toEqual([undefined]);
  });

  test.each(["//evil.example/api", "http://evil.example/api", "/../api", "/api?x=", "api", ""])(
    "a discovery document that names %j is refused",
    async (api) => {
      const seen: unknown[] = [];
      const url = await serve((request, response) => {
        seen.push(request.url, request.headers["x-api-key"]);
        response.setHeader("content-type", "application/json").end(discovery(api));
      });
      await expectFailure(`workers list --url ${url}`, { status: 1, code: "DISCOVERY_REFUSED" }, key);
      expect(seen).toEqual(["/.well-known/runtime", undefined]);
    },
  );

  test("the key of a profile is not sent to another origin", async () => {
    const url = await serve((_request, response) => response.end(discovery("/api")));
    const message = await expectFailure(`workers list --url ${url}`, { status: 4, code: "NOT_SIGNED_IN" });
    expect(message).toContain(`is for ${daemon.url} and is not sent to ${url}`);
  });

  test("reads go straight to where the API was at sign-in; when it is there no more, it is looked for, without the key", async () => {
    const seen: unknown[] = [];
    let base = "/first";
    const url = await serve((request, response) => {
      seen.push([request.url, request.headers["x-api-key"]]);
      const principal = { id: 1, name: "a", keyPrefix: "a", role: "admin", permissions: [], namespaces: ["*"] };
      if (request.url === "/.well-known/runtime") response.end(discovery(base));
      else if (request.url === `${base}/workers`) response.end("[]");
      else if (request.url === `${base}/admin/session`) response.end(JSON.stringify({ authenticated: true, principal }));
      else response.writeHead(404).end("nothing here");
    });
    await writeTree(shell.home, { "some.key": "some-key" });
    const config = { env: { RUNTIMECTL_CONFIG_DIR: `${shell.home}/moving` } };
    expect(await shell.run(`auth login --url ${url} --key-file some.key`, config)).toMatchObject({ status: 0 });
    seen.length = 0;
    expect(await shell.run("workers list", config)).toMatchObject({ status: 0, stderr: "" });
    expect(seen).toEqual([["/first/workers", "some-key"]]);
    base = "/second";
    seen.length = 0;
    expect(await shell.run("workers list", config)).toMatchObject({ status: 0, stderr: "" });
    expect(seen).toEqual([
      ["/first/workers", "some-key"],
      ["/.well-known/runtime", undefined],
      ["/second/workers", "some-key"],
    ]);
  });

  test("neither verbose output nor errors show a key", async () => {
    const secret = `rtk_${"s".repeat(43)}`;
    const verbose = await shell.run("workers list --verbose", { env: { RUNTIMECTL_KEY: secret } });
    expect(verbose.stderr).toContain("> GET");
    const argument = await shell.run(`workers list ${secret}`);
    expect(argument.status).toBe(2);
    expect(argument.stderr).toContain("revoke that key");
    for (const run of [verbose, argument]) expect(run.stdout + run.stderr).not.toContain("ssss");
  });
});

test("names from a server are shown with their escape codes written out", async () => {
  const name = "\u001b]0;owned\u0007\u202eevil";
  const worker = { name, path: "/x", removable: true, source: "uploaded", versions: ["1.0.0"], disabledVersions: [] };
  const url = await serve((request, response) =>
    response.end(request.url === "/api/workers" ? JSON.stringify([worker]) : discovery("/api")),
  );
  for (const run of [
    await shell.run(`workers list --url ${url}`, { env: key }),
    await shell.runInTerminal(`workers list --url ${url}`, { env: key }),
  ]) {
    expect(run.stdout).toContain("\\x1b]0;owned\\x07\\u{202e}evil");
    expect(run.stdout).not.toContain(name.slice(0, 2));
  }
  const json = await shell.run(`workers list --url ${url} --json`, { env: key });
  expect(JSON.parse(json.stdout)).toMatchObject({ workers: [{ name }] });
  expect(json.stdout).toMatch(/^[\u0020-\u007e]+\n$/);
});
