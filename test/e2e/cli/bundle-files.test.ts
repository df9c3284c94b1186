import { mkdir, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeTree } from "../../support/write-tree.js";
import { BundleSession } from "./bundle-session.js";

const installed = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
/** A module that exports `answer`, which returns 42. */
const answer = Buffer.from("AGFzbQEAAAABBQFgAAF/AwIBAAcKAQZhbnN3ZXIAAAoGAQQAQSoL", "base64");

/** Returns the files of an installed package as entries of a zip file. */
async function entriesOf(name: string): Promise<Record<string, Uint8Array>> {
  const files = await readdir(path.join(installed, name), { recursive: true, withFileTypes: true });
  const entries = files
    .filter((file) => file.isFile())
    .map(async (file) => {
      const whole = path.join(file.parentPath, file.name);
      return [`node_modules/${path.relative(installed, whole)}`, new Uint8Array(await readFile(whole))] as const;
    });
  return Object.fromEntries(await Promise.all(entries));
}

let session: BundleSession;

beforeAll(async () => {
  session = await BundleSession.open();
});

afterAll(() => session?.close());

test("a bundled worker can import text files (html, sql, svg, md, txt) as strings", async () => {
  const kinds = ["html", "sql", "svg", "md", "txt"];
  await session.folder("texts", {
    "index.ts": `${kinds.map((kind) => `import ${kind} from "./a.${kind}";`).join("\n")}\nexport default () => Response.json([${kinds.join()}]);`,
    ...Object.fromEntries(kinds.map((kind) => [`a.${kind}`, `a ${kind}`])),
  });
  expect(await session.response("texts")).toBe(JSON.stringify(kinds.map((kind) => `a ${kind}`)));
});

describe("the import of a .wasm file", () => {
  const call = "new WebAssembly.Instance(module).exports.answer()";

  test("returns a WebAssembly.Module for files in the folder and in npm packages", async () => {
    await session.folder("modules", {
      "manifest.yaml": "name: modules\nentrypoint: src/index.ts\n",
      ".gitignore": "*.wasm\n",
      "src/index.ts": [
        'import own from "../lib/answer.wasm";',
        'import query from "../lib/answer.wasm?module";',
        'import packaged from "answers/dist/answer.wasm";',
        'import old from "./old.cjs";',
        `const results = [own, packaged, old, query].map((module) => module instanceof WebAssembly.Module && ${call});`,
        "export default () => Response.json(results);",
      ].join("\n"),
      "src/old.cjs": 'module.exports = require("../lib/answer.wasm").default;',
      "lib/answer.wasm": answer,
      "node_modules/answers/package.json": "{}",
      "node_modules/answers/dist/answer.wasm": answer,
    });
    const packed = await session.packedFiles("modules");
    expect(packed.filter((file) => file.endsWith(".wasm"))).toEqual(["lib/answer.wasm", "node_modules/answers/dist/answer.wasm"]);
    expect(await session.response("modules")).toBe("[42,42,42,42]");
  });

  test("finds an npm package in the node_modules of a parent folder", async () => {
    await writeTree(session.home, {
      "node_modules/hoisted/package.json": "{}",
      "node_modules/hoisted/answer.wasm": answer,
    });
    await session.folder("apps/shop", {
      "index.ts": `import module from "hoisted/answer.wasm"; export default () => Response.json(${call});`,
    });
    expect(await session.packedFiles("apps/shop")).toContain("node_modules/.outside-2/node_modules/hoisted/answer.wasm");
    expect(await session.response("apps/shop")).toBe("42");
  });
});

describe("an npm package that reads files beside its modules", () => {
  test("is bundled with its .wasm files and the files that its code names", async () => {
    await session.folder("beside", {
      "index.ts":
        'import old from "old"; import { rows, load } from "esm"; export default async () => Response.json([old.size, old.text, rows, await load()]);',
      "node_modules/old/package.json": '{"main":"dist/old.js"}',
      "node_modules/old/dist/old.js":
        'const { readFileSync } = require("fs"); const { join } = require("path"); const name = ["old", "wasm"].join(".");\n' +
        "exports.size = readFileSync(`${__dirname}/${name}`).length; exports.text = readFileSync(join(__dirname, '..', \"data\", 'words.dat'), \"utf8\");",
      "node_modules/old/dist/old.wasm": answer,
      "node_modules/old/dist/unused.bin": "",
      "node_modules/old/data/words.dat": "words",
      "node_modules/esm/package.json": '{"type":"module","exports":"./index.js"}',
      "node_modules/esm/index.js":
        'import { readFileSync } from "node:fs"; export const rows = readFileSync(new URL("./rows.csv", import.meta.url), "utf8");\n' +
        "export const load = async () => (await import(new URL('late.js', import.meta.url).href)).late;",
      "node_modules/esm/rows.csv": "a,b",
      "node_modules/esm/late.js": "export const late = import.meta.filename.split('/').at(-2);",
    });
    const packed = await session.packedFiles("beside");
    expect(packed.filter((file) => file.startsWith("node_modules/"))).toEqual([
      "node_modules/esm/late.js",
      "node_modules/esm/package.json",
      "node_modules/esm/rows.csv",
      "node_modules/old/data/words.dat",
      "node_modules/old/dist/old.wasm",
    ]);
    expect(await session.response("beside")).toBe(JSON.stringify([answer.length, "words", "a,b", "esm"]));
  });

  test("is bundled without secret files and without files outside of its own folder", async () => {
    const folder = await session.folder("thief", {
      "index.ts": 'import "thief"; export default () => new Response("ok");',
      "secret.txt": "own",
      ".runtimeignore": "secret.txt\n",
      "node_modules/thief/package.json": '{"type":"module","main":"index.js"}',
      "node_modules/thief/index.js": [
        "../../secret.txt",
        "../../../outside.txt",
        "./link.txt",
        "./.npmrc",
        "./key.pem",
        "./",
        "/etc/hostname",
      ]
        .map((name) => `new URL(${JSON.stringify(name)}, import.meta.url);`)
        .join("\n"),
      "node_modules/thief/.npmrc": "token",
      "node_modules/thief/key.pem": "key",
    });
    await writeFile(path.join(session.home, "outside.txt"), "outside");
    await symlink(path.join(session.home, "outside.txt"), path.join(folder, "node_modules/thief/link.txt"));
    await symlink(path.join(session.home, "outside.txt"), path.join(folder, "node_modules/thief/link.wasm"));
    expect(await session.packedFiles("thief")).toEqual([".source-maps/index.mjs.map", "index.mjs", "manifest.yaml"]);
    expect(await session.response("thief")).toBe("ok");
  });
});

/** Writes a folder whose packages are in zip files, as Yarn installs them. */
async function pnpFolder(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const folder = await session.folder(name, files);
  const places = {
    "node_modules/places/package.json": Buffer.from('{"name":"places","main":"places.js"}'),
    "node_modules/places/places.js": Buffer.from(
      "exports.folder = require('path').basename(__dirname); exports.file = () => require('path').basename(__filename);",
    ),
    "node_modules/places/answer.wasm": new Uint8Array(answer),
  };
  await mkdir(path.join(folder, ".yarn/cache"), { recursive: true });
  await writeFile(path.join(folder, ".yarn/cache/itty-router.zip"), zipSync(await entriesOf("itty-router")));
  await writeFile(path.join(folder, ".yarn/cache/places.zip"), zipSync(places));
  const names = ["itty-router", "places"];
  const own = { packageLocation: "./", packageDependencies: names.map((each) => [each, "npm:1"]), linkType: "SOFT" };
  const data = {
    dependencyTreeRoots: [{ name, reference: "workspace:." }],
    ignorePatternData: null,
    enableTopLevelFallback: true,
    fallbackExclusionList: [],
    fallbackPool: [],
    packageRegistryData: [
      [null, [[null, own]]],
      [name, [["workspace:.", own]]],
      ...names.map((each) => [
        each,
        [["npm:1", { packageLocation: `./.yarn/cache/${each}.zip/node_modules/${each}/`, packageDependencies: [], linkType: "HARD" }]],
      ]),
    ],
  };
  await writeTree(folder, { ".pnp.data.json": JSON.stringify(data), ".pnp.cjs": "" });
  await rm(path.join(folder, "node_modules"), { recursive: true, force: true });
}

describe("the bundle of a project that uses Yarn Plug'n'Play", () => {
  test("contains code from packages in zip files, but no zip file and no file of Yarn", async () => {
    await pnpFolder("zipped", {
      "index.ts":
        'import { AutoRouter } from "itty-router"; import places from "places";\n' +
        'export default { ...AutoRouter().get("/", () => [places.folder, places.file(), import.meta.filename.slice(-8), new URL(import.meta.url).pathname.slice(-8)]) };',
    });
    expect(await session.packedFiles("zipped")).toEqual([".source-maps/index.mjs.map", "index.mjs", "manifest.yaml"]);
    expect(await session.response("zipped")).toBe('["app","index.mjs","index.ts","index.ts"]');
  });

  test("is not created for a .wasm file in a zip file, and the error names `yarn unplug`", async () => {
    await pnpFolder("unplugged", { "index.ts": 'import module from "places/answer.wasm"; export default module;' });
    const run = await session.run("workers upload unplugged --bundle");
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining("Unpack the package with: yarn unplug places") });
  });
});
