import { cp, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeTree } from "../../support/write-tree.js";
import { BundleSession } from "./bundle-session.js";

const installedAddon = fileURLToPath(new URL("../../../node_modules/better-sqlite3", import.meta.url));

let session: BundleSession;

beforeAll(async () => {
  session = await BundleSession.open({ RUNTIME_WORKER_PERMISSIONS: "network,addons" });
});

afterAll(() => session?.close());

async function failure(name: string, options = ""): Promise<string> {
  const run = await session.run(`workers upload ${name} --bundle ${options}`.trim());
  expect(run).toMatchObject({ stdout: "" });
  expect(run.status).not.toBe(0);
  return run.stderr;
}

/** Returns a worker whose response is the result of this function body. */
function worker(imports: string, body: string): string {
  return `${imports}\nexport default { async fetch() { ${body} } };\n`;
}

const codeOf = `const codeOf = async (load: () => unknown) => { try { await load(); return "loaded"; } catch (error) { return (error as { code: string }).code; } };`;

describe("the import of an npm package that is not installed", () => {
  test("fails at run time, as in Node.js, when the import is in a try block", async () => {
    await session.folder("caught", {
      "package.json": '{"name":"caught"}',
      "index.ts": worker(
        'import { found } from "./old.cjs"; let later = "none"; try { await import("gone-esm"); } catch (error) { later = error.code; }',
        "return Response.json([found, later, await import('gone-later').catch((error) => error.code)]);",
      ),
      "old.cjs": 'try { require("gone-cjs"); } catch (error) { exports.found = error.code; }',
    });
    expect(await session.response("caught")).toBe('["MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND"]');
  });

  test("fails at run time, not at bundling, when the package is an optional dependency", async () => {
    await session.folder("optional", {
      "package.json": '{"name":"optional","optionalDependencies":{"own-gone":"1"}}',
      "index.ts": worker(
        `import adapters from "adapters"; ${codeOf}`,
        `return Response.json([await codeOf(() => import("own-gone")), await codeOf(adapters.required), await codeOf(adapters.required),
          await codeOf(adapters.imported), await codeOf(adapters.module)]);`,
      ),
      "node_modules/adapters/package.json": JSON.stringify({
        main: "index.js",
        peerDependencies: { "peer-gone": "1", "@team/gone": "1" },
        peerDependenciesMeta: { "peer-gone": { optional: true }, "@team/gone": { optional: true } },
      }),
      "node_modules/adapters/index.js":
        'exports.required = () => require("peer-gone/deep.js"); exports.imported = () => import("@team/gone"); exports.module = () => import("./module.mjs");',
      "node_modules/adapters/module.mjs": 'import { query } from "peer-gone"; export default query;',
    });
    expect(await session.response("optional")).toBe(
      JSON.stringify(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"]),
    );
  });

  test("causes an error at bundling when the worker cannot load without the package", async () => {
    await session.folder("static", {
      "index.ts": worker('import query from "adapters/pg";', "return new Response(query);"),
      "node_modules/adapters/package.json": '{"peerDependenciesMeta":{"pg-gone":{"optional":true},"other-gone":{"optional":true}}}',
      "node_modules/adapters/pg.mjs": 'import pg from "pg-gone"; export default pg; export const other = () => import("other-gone");',
    });
    await writeTree(session.home, { "static/node_modules/adapters/pg/package.json": '{"main":"../pg.mjs"}' });
    const words = await failure("static");
    expect(words).toContain('node_modules/adapters/pg.mjs:1:16: Could not resolve "pg-gone"');
    expect(words).toContain("hint: npm install pg-gone\n");
  });

  test("does not prevent bundling a NestJS app whose optional packages are missing", async () => {
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
    await session.folder("nest", files, ["@nestjs/core", "@nestjs/common", "@nestjs/platform-express", "reflect-metadata", "rxjs"]);
    expect(await session.response("nest")).toBe("nest");
  });
});

describe("the flag --external for an npm package", () => {
  test("packs the package and its dependencies, and the worker loads the package", async () => {
    const source = worker('import express from "express"; import { AutoRouter } from "itty-router";', "return new Response();").replace(
      /export default[^]*$/,
      'const app = express(); app.get("/", (_request, response) => response.send([typeof AutoRouter, import.meta.resolve("express").slice(-30)].join()));\napp.listen(3000);\n',
    );
    await session.folder("express", { "index.ts": source }, ["express", "itty-router"]);
    const packed = await session.packedFiles("express", "--external express");
    expect(packed).toEqual(expect.arrayContaining(["node_modules/express/index.js", "node_modules/body-parser/package.json"]));
    expect(packed.filter((file) => file.includes("itty-router"))).toEqual([]);
    expect(await session.response("express", "--external express")).toBe("function,/node_modules/express/index.js");
  });

  test("lets a worker with the permission `addons` load a native addon", async () => {
    const source = worker(
      'import Database from "better-sqlite3";',
      'return Response.json(new Database(":memory:").prepare("SELECT 42 AS n").get());',
    );
    const manifest = "name: addon\nentrypoint: index.ts\npermissions: [addons]\n";
    const folder = await session.folder("addon", { "manifest.yaml": manifest, "index.ts": source });
    await cp(installedAddon, path.join(folder, "node_modules/better-sqlite3"), {
      recursive: true,
      filter: (file) => !/\/better-sqlite3\/(?:deps|src|prebuilds\/(?!linux-).*)$/.test(file),
    });
    expect(await failure("addon")).toContain("better-sqlite3 is a native addon, which cannot be bundled");
    expect(await session.response("addon", "--external better-sqlite3")).toBe('{"n":42}');
  });

  test("packs two versions of a dependency from a node_modules with symbolic links", async () => {
    const folder = await session.folder("linked", {
      "index.ts": worker('import first from "first"; import second from "second";', "return Response.json([first, second]);"),
    });
    const store = path.join(session.home, "store/node_modules");
    for (const [name, version] of [
      ["first", "1"],
      ["second", "2"],
    ] as const) {
      await writeTree(store, {
        [`.pnpm/${name}/node_modules/${name}/package.json`]: JSON.stringify({ name, main: "main.js", dependencies: { shared: version } }),
        [`.pnpm/${name}/node_modules/${name}/main.js`]: `module.exports = "${name} " + require("shared");`,
        [`.pnpm/shared-${version}/node_modules/shared/package.json`]: JSON.stringify({ main: "main.js", dependencies: { [name]: "1" } }),
        [`.pnpm/shared-${version}/node_modules/shared/main.js`]: `module.exports = "shared ${version}";`,
        [`.pnpm/shared-${version}/node_modules/shared/.npmrc`]: "token",
      });
      await symlink(path.join(store, `.pnpm/shared-${version}/node_modules/shared`), path.join(store, `.pnpm/${name}/node_modules/shared`));
      await symlink(
        path.join(store, `.pnpm/${name}/node_modules/${name}`),
        path.join(store, `.pnpm/shared-${version}/node_modules/${name}`),
      );
      await writeTree(folder, { "node_modules/.keep": "" });
      await symlink(path.join(store, `.pnpm/${name}/node_modules/${name}`), path.join(folder, "node_modules", name));
    }
    const options = "--external first --external second";
    expect((await session.packedFiles("linked", options)).filter((file) => file.includes("node_modules"))).toEqual([
      "node_modules/first/main.js",
      "node_modules/first/package.json",
      "node_modules/second/main.js",
      "node_modules/second/node_modules/shared/main.js",
      "node_modules/second/node_modules/shared/package.json",
      "node_modules/second/package.json",
      "node_modules/shared/main.js",
      "node_modules/shared/package.json",
    ]);
    expect(await session.response("linked", options)).toBe('["first shared 1","second shared 2"]');
  });

  test("prints a warning when the package is not installed", async () => {
    await session.folder("absent", { "index.ts": worker("", 'return new Response(await import("absent").catch((error) => error.code));') });
    const run = await session.run("deploy absent --bundle --external absent");
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).toContain("--external: absent is not installed, so imports of it fail at run time");
  });

  test("is rejected without --bundle, and with a path instead of a package name", async () => {
    await session.folder("plain", { "index.ts": worker("", "return new Response();") });
    for (const command of ["workers upload", "deploy", "dev"]) {
      const run = await session.run(`${command} plain --external hono`);
      expect(run).toMatchObject({ status: 2, stderr: expect.stringContaining("--external requires --bundle") });
    }
    expect(await failure("plain", "--external ./lib.js")).toContain('"./lib.js" is not the name of a package');
  });
});

test("--bundle bundles modules and packages whose names end in .node or .node.js", async () => {
  await session.folder("named", {
    "index.ts": worker('import a from "./a.node.js"; import b from "b.node"; import c from "./c.node";', "return new Response(a + b + c);"),
    "a.node.js": 'export default "a";',
    "c.node.ts": 'export default "c" as string;',
    "node_modules/b.node/package.json": '{"main":"main.js"}',
    "node_modules/b.node/main.js": 'module.exports = "b";',
  });
  expect(await session.response("named")).toBe("abc");
});

test("--bundle rejects a package whose main file is a native addon", async () => {
  await session.folder("hidden", {
    "index.ts": worker('import addon from "addon";', "return new Response(typeof addon);"),
    "node_modules/addon/package.json": '{"main":"main.node"}',
    "node_modules/addon/main.node": "",
  });
  expect(await failure("hidden")).toContain("index.ts:1:19: node_modules/addon/main.node is a native addon");
});
