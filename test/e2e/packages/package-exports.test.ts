import { beforeEach, describe, expect, test } from "vitest";
import { compileTimeoutMs, DependentProject } from "./dependent-project.js";

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

let project: DependentProject;

beforeEach(async () => {
  project = await DependentProject.create();
});

describe("the published module runtimectl/plugin", () => {
  test("type-checks a plugin in a Node.js project with library checks", { timeout: compileTimeoutMs }, async () => {
    await project.addNodeTypes();
    const options = { module: "nodenext", lib: ["es2023"], types: ["node"], skipLibCheck: false, exactOptionalPropertyTypes: true };
    expect(await project.typeErrors(plugin, options)).toBe("");
  });

  test("type-checks a plugin in a browser project", { timeout: compileTimeoutMs }, async () => {
    const options = { module: "preserve", moduleResolution: "bundler", lib: ["es2023", "dom"], types: [], skipLibCheck: true };
    // Declarations are not checked here: fromNodeHandler has parameter types of node:http.
    expect((await project.typeErrors(plugin, options)).split("\n").filter((line) => line.includes("error"))).toEqual([]);
  });

  test("exports the functions definePlugin and fromNodeHandler", async () => {
    const program =
      'import { definePlugin, fromNodeHandler } from "runtimectl/plugin"; console.log(typeof definePlugin({}), typeof fromNodeHandler);';
    expect(await project.printed(program)).toBe("object function\n");
  });
});
