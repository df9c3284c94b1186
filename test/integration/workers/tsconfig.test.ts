import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

let names = 0;
/** Returns the response of a TypeScript worker with these files. */
async function response(files: Record<string, string>, entrypoint = "index.tsx"): Promise<string> {
  names += 1;
  await server.add(`configured-${names}`, { files, manifest: { entrypoint } });
  return server.text(`/configured-${names}/`);
}

function config(compilerOptions: Record<string, unknown>, others: Record<string, unknown> = {}): string {
  return JSON.stringify({ compilerOptions, ...others });
}

const page = (expression: string, imports = "") => `${imports}export default () => Response.json(${expression});`;
/** A JSX runtime whose elements are [type, properties]. */
const runtime = {
  "node_modules/react/package.json": '{"name":"react"}',
  "node_modules/react/jsx-runtime.js": 'exports.jsx = (type, properties) => ["automatic", type, properties];',
  "node_modules/tiny/package.json": '{"name":"tiny"}',
  "node_modules/tiny/jsx-runtime.js": 'exports.jsx = (type, properties) => ["tiny", type, properties];',
};

describe("the tsconfig.json of a TypeScript worker", () => {
  test("can contain paths and baseUrl, comments and trailing commas", async () => {
    const text = `// Settings\n{ "compilerOptions": { /* "paths": {} */ "baseUrl": "./src", "paths": { "@/*": ["lib/*", "other/*",], }, }, }`;
    const files = {
      "src/index.ts": page("[a, b, c]", 'import { a } from "@/a"; import { b } from "@/b"; import { c } from "c";\n'),
      "src/lib/a.ts": 'export const a: string = "a // no comment";',
      "src/other/b.ts": 'export const b: string = "b";',
      "src/c.ts": 'export const c: string = "c";',
      "tsconfig.json": text,
    };
    expect(await response(files, "src/index.ts")).toBe('["a // no comment","b","c"]');
  });

  test("can extend files of its folder and of npm packages", async () => {
    const files = {
      "src/index.ts": page("[a, String(new Marked().mark)]", 'import { a } from "@/a"; import { Marked } from "#marked";\n'),
      "src/a.ts": 'export const a: string = "a";',
      "src/marked.ts":
        "const mark = (target: object, name: string) => { Object.assign(target, { marks: name }); };\nexport class Marked { @mark mark!: string; }\nexport const marks = (Marked.prototype as unknown as { marks: string }).marks;",
      "config/base.json": config({ paths: { "@/*": ["../src/*"] } }, { extends: ["base/strict", "../config/base"] }),
      "node_modules/base/strict.json": config({ experimentalDecorators: true, useDefineForClassFields: false }),
      "tsconfig.json": config({}, { extends: "./config/base" }),
      "src/tsconfig.json": config({ paths: { "@/*": ["./*"], "#marked": ["${configDir}/marked.ts"] } }, { extends: "../tsconfig" }),
    };
    expect(await response(files, "src/index.ts")).toBe('["a","undefined"]');
  });

  test("selects standard or experimental decorators", async () => {
    const source =
      "const seen: string[] = []; const mark = (_target: unknown, name: string) => void seen.push(typeof name);\nclass A { @mark a() {} }\n";
    const index = page("[seen, typeof A]", source);
    expect(await response({ "index.tsx": index })).toBe('[["object"],"function"]');
    expect(await response({ "index.tsx": index, "tsconfig.json": config({ experimentalDecorators: true }) })).toBe(
      '[["string"],"function"]',
    );
  });

  test("causes a log entry when it contains emitDecoratorMetadata, which has no effect", async () => {
    const tsconfig = config({ experimentalDecorators: true, emitDecoratorMetadata: true });
    expect(await response({ "index.tsx": page("1"), "tsconfig.json": tsconfig })).toBe("1");
    await expect
      .poll(() => server.log.map((line) => line.msg).join("\n"))
      .toContain("tsconfig.json: esbuild does not support emitDecoratorMetadata");
  });

  test("is named in the error message when the file is invalid", async () => {
    names += 1;
    await server.add(`configured-${names}`, { files: { "index.ts": page("1"), "tsconfig.json": "{ broken" } });
    expect(await server.refusal(`/configured-${names}/`)).toMatchObject({
      code: "WORKER_START_FAILED",
      message: "The worker's TypeScript could not be compiled. tsconfig.json is not valid JSON.",
    });
  });
});

describe("JSX of a TypeScript worker", () => {
  const element = page("<b>text</b>");
  const automatic = '["automatic","b",{"children":"text"}]';
  const classic = '["classic","b",null,"text"]';
  const factory = 'const h = (...parts: unknown[]) => ["classic", ...parts]; const React = { createElement: h };\n';

  test.each<[string, string, string | undefined, string]>([
    ["automatic without tsconfig.json", element, undefined, automatic],
    ["automatic if tsconfig.json has no JSX options", element, config({ strict: true }), automatic],
    ["automatic if it is preserved", element, config({ jsx: "preserve" }), automatic],
    ["of the import source of tsconfig.json", element, config({ jsxImportSource: "tiny" }), automatic.replace("automatic", "tiny")],
    ["of the import source of a pragma", `/** @jsxImportSource tiny */ ${element}`, undefined, automatic.replace("automatic", "tiny")],
    ["classic with the option react", factory + element, config({ jsx: "react" }), classic],
    ["classic with a factory in tsconfig.json", factory + element, config({ jsxFactory: "h" }), classic],
    ["classic with a factory in a pragma", `/** @jsx h */ ${factory + element}`, undefined, classic],
  ])("is %s", async (_, index, tsconfig, expected) => {
    expect(await response({ ...runtime, "index.tsx": index, ...(tsconfig !== undefined && { "tsconfig.json": tsconfig }) })).toBe(expected);
  });
});
