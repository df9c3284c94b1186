import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const compiler = path.join(root, "node_modules/typescript/bin/tsc");
const run = promisify(execFile);
/** The compiler reads all of Node's types, which takes a busy machine a while. */
const compileTimeoutMs = 120_000;

const plugin = `
import { definePlugin, fromNodeHandler, type Plugin } from "runtimectl/plugin";

export default definePlugin<{ greeting: string }>((config) => ({
  routes: fromNodeHandler((request, response) => response.end(request.url)),
  server: { routes: { "/hello/:name": { GET: (_request, { name }) => new Response(\`\${config.greeting} \${name}\`) } } },
  onInit(context) {
    context.metrics.counter("greetings", "Greetings sent.").add({ to: context.config.greeting.toUpperCase() });
  },
  onRequest(request, app) {
    if (app?.visibility === "internal") return new Response(null, { status: 404 });
    return new Request(request, { headers: { "x-seen": "1" } });
  },
  async onResponse(response) {
    response.headers.set("x-greeted", "yes");
  },
}));

// @ts-expect-error a hook that is not there
export const misspelt: Plugin = { onRequests() {} };
// @ts-expect-error an answer that is none
export const wrong: Plugin = { onRequest: () => "no" };
// @ts-expect-error a setting that the plugin does not have
definePlugin<{ greeting: string }>((config) => ({ onServerStart: () => void config.greetings }));
`;

let directory: string;

/** The folder of somebody who has installed the package. */
beforeEach(async () => {
  directory = await temporaryDirectory();
  await mkdir(path.join(directory, "node_modules"));
  await symlink(root, path.join(directory, "node_modules/runtimectl"));
});

async function typeCheck(compilerOptions: Record<string, unknown>): Promise<string> {
  const options = { strict: true, noEmit: true, target: "es2023", preserveSymlinks: true, ...compilerOptions };
  await writeTree(directory, {
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify({ compilerOptions: options, files: ["plugin.ts"] }),
    "plugin.ts": plugin,
  });
  return run(process.execPath, [compiler, "-p", directory]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}

describe("runtimectl/plugin", () => {
  test("types a plugin where Node's types are, down to its own declarations", { timeout: compileTimeoutMs }, async () => {
    await symlink(path.join(root, "node_modules/@types"), path.join(directory, "node_modules/@types"));
    await symlink(path.join(root, "node_modules/undici-types"), path.join(directory, "node_modules/undici-types"));
    const options = { module: "nodenext", lib: ["es2023"], types: ["node"], skipLibCheck: false, exactOptionalPropertyTypes: true };
    expect(await typeCheck(options)).toBe("");
  });

  test("types a plugin where only a browser's types are", { timeout: compileTimeoutMs }, async () => {
    const options = { module: "preserve", moduleResolution: "bundler", lib: ["es2023", "dom"], types: [], skipLibCheck: true };
    // fromNodeHandler is of no use there: its parameters are of node:http.
    expect((await typeCheck(options)).split("\n").filter((line) => line.includes("error"))).toEqual([]);
  });

  test("is code, too", async () => {
    const program =
      'import { definePlugin, fromNodeHandler } from "runtimectl/plugin"; console.log(typeof definePlugin({}), typeof fromNodeHandler);';
    await writeTree(directory, { "program.mjs": program });
    const { stdout } = await run(process.execPath, [path.join(directory, "program.mjs")]);
    expect(stdout).toBe("object function\n");
  });
});
