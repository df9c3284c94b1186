import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyPackages } from "../../support/copy-packages.js";
import { WorkerServer } from "../../support/worker-server.js";

/** A module that exports `answer`, which returns 42. */
const answer = Buffer.from("AGFzbQEAAAABBQFgAAF/AwIBAAcKAQZhbnN3ZXIAAAoGAQQAQSoL", "base64");

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

test("a TypeScript worker can import text files and WebAssembly files", async () => {
  const files = {
    "src/index.ts":
      'import html from "../a.html"; import module from "./b.wasm";\n' +
      "export default () => Response.json([html, new WebAssembly.Instance(module).exports.answer()]);",
    "a.html": "<b>@jsx h</b>\n<!--# sourceMappingURL=../x -->",
    "src/b.wasm": answer,
  };
  await server.add("files", { files, manifest: { entrypoint: "src/index.ts" } });
  expect(await (await server.fetch("/files/")).json()).toEqual([files["a.html"], 42]);
});

describe("the import of an optional package that is not installed", () => {
  test("fails at run time, as in Node.js", async () => {
    await server.add("optional", {
      files: {
        "index.ts":
          'import adapters from "adapters"; const codeOf = async (load: () => unknown) => { try { await load(); } catch (error) { return (error as { code?: string }).code; } };\n' +
          "export default async () => Response.json([await codeOf(adapters.required), await codeOf(adapters.imported)]);",
        "node_modules/adapters/package.json": '{"main":"index.js","peerDependenciesMeta":{"gone":{"optional":true},"odd":null}}',
        "node_modules/adapters/index.js": 'exports.required = () => require("gone"); exports.imported = () => import("gone/deep");',
      },
    });
    expect(await (await server.fetch("/optional/")).json()).toEqual(["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"]);
  });

  test("prevents the worker from starting if its code cannot load without the package", async () => {
    await server.add("required", {
      files: {
        "index.ts": 'import gone from "gone"; export default () => new Response(gone);',
        "package.json": '{"optionalDependencies":{"gone":"1"}}',
      },
    });
    expect(await server.refusal("/required/")).toMatchObject({
      code: "WORKER_START_FAILED",
      message: expect.stringContaining('index.ts:1:18: Could not resolve "gone"'),
    });
  });

  test("does not prevent the start of a NestJS worker in TypeScript", async () => {
    const source = [
      'import "reflect-metadata";',
      'import { NestFactory } from "@nestjs/core";',
      'import { Controller, Get, Module } from "@nestjs/common";',
      '@Controller() class Greeter { @Get() greet() { return "nest"; } }',
      "@Module({ controllers: [Greeter] }) class Main {}",
      "const app = await NestFactory.create(Main, { logger: false });",
      "await app.listen(3000);",
    ];
    const files = { "index.ts": source.join("\n"), "tsconfig.json": '{"compilerOptions":{"experimentalDecorators":true}}' };
    const { folder } = await server.add("nest", { files });
    await copyPackages(["@nestjs/core", "@nestjs/common", "@nestjs/platform-express", "reflect-metadata", "rxjs"], folder);
    expect(await server.text("/nest/")).toBe("nest");
  });
});
