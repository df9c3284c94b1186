import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { compileTimeoutMs, DependentProject, root } from "./dependent-project.js";

const program = `
import { ApiError, connect, createClient, type Client, type ErrorCode, type Permission, type Transport } from "runtimectl/client";

const client: Client = connect({ url: "http://127.0.0.1:8000", key: "secret", fetch: globalThis.fetch });
export async function names(signal: AbortSignal): Promise<string[]> {
  const workers = await client.workers.list();
  const { entries } = await client.audit.list({ query: { limit: 10 } });
  const codes: (ErrorCode | undefined)[] = entries.map((entry) => entry.code);
  const { data } = await client.keys.create({ body: { name: "ci", role: "custom", permissions: ["workers:read"] } });
  const permissions: Permission[] = data.permissions;
  for await (const event of client.events.stream.follow({}, { signal })) codes.push(event.type === "worker.installed" ? undefined : "NOT_FOUND");
  const page = await client.workers.logs({ params: { scope: "_", name: "shop" } });
  return [...workers.map((worker) => worker.name), ...permissions, ...page.entries.map(({ text }) => text)];
}
export const codeOf = (error: unknown): ErrorCode | undefined => (error instanceof ApiError ? error.code : undefined);
const transport: Transport = async () => ({ status: 204, requestId: undefined, text: "" });
export const other: Client = createClient(transport, "/admin");

// @ts-expect-error an operation that does not exist
export const missing: unknown = client.workers.install;
// @ts-expect-error an input without its body
export const incomplete: unknown = client.keys.create({});
// @ts-expect-error a role that does not exist
export const wrong: unknown = client.keys.create({ body: { name: "ci", role: "owner" } });
`;

let project: DependentProject;

beforeEach(async () => {
  project = await DependentProject.create();
});

/** Runs a module that has `connect` and returns the JSON value that it prints. */
async function printed(code: string): Promise<unknown> {
  return JSON.parse(await project.printed(`import { connect } from "runtimectl/client";\n${code}`));
}

describe("the type declarations of the module runtimectl/client", () => {
  test("compile in a Node.js project with library checks", { timeout: compileTimeoutMs }, async () => {
    await project.addNodeTypes();
    const options = { module: "nodenext", lib: ["es2023"], types: ["node"], skipLibCheck: false, exactOptionalPropertyTypes: true };
    expect(await project.typeErrors(program, options)).toBe("");
  });

  test("compile in a browser project with library checks", { timeout: compileTimeoutMs }, async () => {
    const options = { module: "preserve", moduleResolution: "bundler", lib: ["es2023", "dom"], types: [], skipLibCheck: false };
    expect(await project.typeErrors(program, options)).toBe("");
  });

  test("import no other module", async () => {
    const declarations = await readFile(path.join(root, "dist/client/index.d.ts"), "utf8");
    expect(declarations).not.toMatch(/\bimport\b|\bZod|: any\b/);
  });
});

describe("the API client of the module runtimectl/client", () => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
  });

  afterAll(() => daemon.dispose());

  test("uploads a worker, lists the worker and receives the event of the upload", async () => {
    const archive = path.join(project.directory, "hello.tgz");
    await writeTree(project.directory, {
      "hello.tgz": await packFiles({
        "manifest.yaml": "name: hello\nversion: 1.0.0\n",
        "index.js": "export default { fetch: () => new Response('hi') };",
      }),
    });
    const result = await printed(`
      import { createReadStream, statSync } from "node:fs";
      const archive = ${JSON.stringify(archive)};
      const client = connect({ url: "${daemon.url}/cpanel/", key: "${daemon.rootKey}" });
      const file = { filename: "hello.tgz", sizeBytes: statSync(archive).size, bytes: createReadStream(archive) };
      const stop = new AbortController();
      let upload;
      const onOpen = () => { upload = client.workers.upload({ file }); };
      for await (const event of client.events.stream.follow({}, { signal: stop.signal, onOpen })) if (event.type === "worker.installed") break;
      const { data } = await upload;
      const names = (await client.workers.list()).map(({ name }) => name);
      console.log(JSON.stringify({ worker: data.worker.name, listed: names.includes("hello") }));`);
    expect(result).toEqual({ worker: "hello", listed: true });
  });

  test("rejects with the daemon's error code when the key is unknown", async () => {
    const result = await printed(`
      const error = await connect({ url: "${daemon.url}", key: "unknown" }).workers.list().catch((error) => error);
      console.log(JSON.stringify({ name: error.name, code: error.code, status: error.status, hasId: error.requestId !== undefined }));`);
    expect(result).toEqual({ name: "ApiError", code: "AUTH_REQUIRED", status: 401, hasId: true });
  });

  test("does not follow a redirect with the key", async () => {
    const result = await printed(`
      import { createServer } from "node:http";
      import { once } from "node:events";
      const received = [];
      const server = createServer((request, response) => {
        received.push(request.url);
        response.writeHead(307, { location: "/elsewhere" }).end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const error = await connect({ url: "http://127.0.0.1:" + server.address().port, key: "secret" }).workers.list().catch((error) => error);
      server.close();
      console.log(JSON.stringify({ name: error.name, status: error.status, received }));`);
    expect(result).toEqual({ name: "UnexpectedAnswerError", status: 307, received: ["/api/workers"] });
  });
});
