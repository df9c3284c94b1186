import { symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noLayers } from "../../src/server/workers/sandbox/sandbox-policy.js";
import { WorkerServer } from "../support/worker-server.js";

const element = "export default () => Response.json(<b>text</b>);";
const automatic = '["automatic","b",{"children":"text"}]';
/** Returns a worker that responds with the content of a module. */
const importing = (specifier: string) => `import * as x from ${JSON.stringify(specifier)}; export default () => Response.json(x);`;

describe.each([
  ["in its sandbox", undefined],
  ["without kernel layers", Promise.resolve(noLayers("left out by a test"))],
])("the TypeScript compiler %s", (_, kernelLayers) => {
  let server: WorkerServer;

  beforeAll(async () => {
    server = await WorkerServer.start(kernelLayers === undefined ? {} : { kernelLayers });
    const settings = { secret: "do not read", compilerOptions: { jsx: "react", jsxFactory: "leaked" } };
    await writeFile(path.join(server.directory, "secret.json"), JSON.stringify(settings));
    await writeFile(path.join(server.directory, "secret.ts"), 'export const secret = "do not read";');
  });
  afterAll(() => server.stop());

  test.each<[string, string, string, string]>([
    ["a base file", '{ "extends": "../../../secret" }', element, automatic],
    ["a base file by its absolute path", '{ "extends": "DIRECTORY/secret.json" }', element, automatic],
    ["a base file through a link", '{ "extends": "./link.json" }', element, automatic],
    ["paths", '{ "compilerOptions": { "paths": { "x": ["../../../secret.ts"] } } }', importing("x"), ""],
    ["absolute paths", '{ "compilerOptions": { "paths": { "x": ["DIRECTORY/secret.ts"] } } }', importing("x"), ""],
    ["paths below configDir", '{ "compilerOptions": { "paths": { "x": ["${configDir}/../../../secret.ts"] } } }', importing("x"), ""],
    ["a pattern of paths", '{ "compilerOptions": { "paths": { "x/*": ["./*"] } } }', importing("x/../../../secret.json"), ""],
    ["paths with a link", '{ "compilerOptions": { "paths": { "x": ["./link.json"] } } }', importing("x"), ""],
    ["baseUrl", '{ "compilerOptions": { "baseUrl": "../../.." } }', importing("secret"), ""],
  ])("cannot read files outside of the worker's folder by %s", async (kind, tsconfig, index, expected) => {
    const name = kind.replaceAll(" ", "-").toLowerCase();
    const version = await server.add(name, {
      files: {
        "node_modules/react/package.json": "{}",
        "node_modules/react/jsx-runtime.js": 'exports.jsx = (type, properties) => ["automatic", type, properties];',
        "tsconfig.json": tsconfig.replaceAll("DIRECTORY", server.directory),
        "index.tsx": index,
      },
      manifest: { entrypoint: "index.tsx" },
    });
    await symlink(path.join(server.directory, "secret.json"), path.join(version.folder, "link.json"));
    const text = await server.text(`/${name}/`);
    const log = server.log.map((line) => JSON.stringify(line)).join("\n");
    expect(text + log).not.toContain("do not read");
    if (expected === "") expect(text).toContain("WORKER_START_FAILED");
    else expect(text).toBe(expected);
  });
});
