import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noLayers } from "../../src/server/workers/sandbox/sandbox-policy.js";
import { WorkerServer } from "../support/worker-server.js";

const secret = "a-root-key-that-is-no-JSON";
/** If the compiler reads the secret as a source map, it fails at the first character. */
const broken = (comment: string) => `export const a = ;\n${comment}\n`;

/** Once with the kernel layers of the compiler, once only with its own checks. */
describe.each([
  ["in its sandbox", undefined],
  ["without a sandbox", Promise.resolve(noLayers("left out by a test"))],
])("the TypeScript compiler (mode: %s)", (_, kernelLayers) => {
  let server: WorkerServer;
  let secretFile: string;

  beforeAll(async () => {
    server = await WorkerServer.start(kernelLayers === undefined ? {} : { kernelLayers });
    secretFile = path.join(server.directory, "secret");
    await writeFile(secretFile, secret);
  });
  afterAll(() => server.stop());

  test.each([
    ["absolute", (file: string) => `//# sourceMappingURL=${file}`],
    ["a URL", (file: string) => `//# sourceMappingURL=file://${file}`],
    ["relative", () => "//# sourceMappingURL=../../../secret"],
    ["in a block comment", (file: string) => `/*# sourceMappingURL=${file} */`],
    ["behind a quote", () => "//# sourceMappingURL=index.ts'/../../../../secret"],
    ["encoded", () => "//# sourceMappingURL=..%2f..%2f..%2fsecret"],
  ])("does not read a file that a sourceMappingURL comment names (path: %s)", async (form, comment) => {
    const name = `mapped-${form.toLowerCase().replaceAll(" ", "-")}`;
    const whole = `export default { fetch: (): Response => new Response("served") };\n${comment(secretFile)}\n`;
    await server.add(name, { files: { "index.ts": whole } });
    expect(await server.text(`/${name}/`)).toBe("served");
    await server.add(`${name}-js`, {
      files: { "index.js": `import "./lib.js";\nexport default {};\n${comment(secretFile)}\n`, "lib.js": broken(comment(secretFile)) },
    });
    expect(await server.text(`/${name}-js/`)).not.toContain("root-key");
  });

  test("compiles a package that contains its own source map", async () => {
    await server.add("own-map", {
      files: {
        "index.ts": 'import { value } from "./lib.js";\nexport default { fetch: (): Response => new Response(value) };\n',
        "lib.js": 'export const value = "mapped";\n//# sourceMappingURL=lib.js.map\n',
        "lib.js.map": '{"version":3,"sources":["lib.ts"],"names":[],"mappings":"AAAA"}',
      },
    });
    expect(await server.text("/own-map/")).toBe("mapped");
  });
});
