import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as z from "zod";

const require = createRequire(import.meta.url);
const { Ajv } = require("ajv");
const { default: standaloneCode } = require("ajv/dist/standalone");

const [sources, modules] = ["../src", "../build"].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** The contracts that quick commands read answers by. */
const contracts = /[\\/]src[\\/]shared[\\/]contract[\\/](?:workers|discovery)\.ts$/;

/**
 * Contracts whose answers are checked by code that is made now, from zod's schemas: to set these up takes zod a twelfth of an empty Node's
 * start. What such a check accepts, and what it leaves out of it, is what zod does; test/contract/ready-contracts.test.ts compares them.
 */
export const readyContracts = {
  name: "ready-contracts",
  setup(plugin) {
    plugin.onLoad({ filter: contracts }, async ({ path: file }) => ({
      contents: await readyContract(compiled(file)),
      loader: "js",
      resolveDir: modules,
    }));
  },
};

/** A module with the endpoints of a contract's compiled file. Their results are standard schemas (standardschema.dev). */
export async function readyContract(compiledFile) {
  // Objects lose what their schema does not name.
  const ajv = new Ajv({ code: { source: true, esm: true }, removeAdditional: true, messages: false });
  const endpoints = Object.entries(await import(pathToFileURL(compiledFile).href)).filter(([, value]) => value.method !== undefined);
  for (const [name, { result }] of endpoints) ajv.addSchema(z.toJSONSchema(result, { target: "draft-7", override: withoutWords }), name);
  const checks = standaloneCode(ajv, Object.fromEntries(endpoints.map(([name]) => [`check_${name}`, name])));
  const exported = endpoints.map(
    ([name, endpoint]) =>
      `export const ${name} = { ...${JSON.stringify({ ...endpoint, result: undefined })}, result: standardSchema(check_${name}) };`,
  );
  return [checks, String(standardSchema), ...exported].join("\n");
}

/** Descriptions would be part of the code. */
function withoutWords({ jsonSchema }) {
  delete jsonSchema.description;
}

/** What scripts/build.mjs has made of a file of src/. */
function compiled(file) {
  return path.join(modules, path.relative(sources, file)).replace(/\.ts$/, ".js");
}

/** A standard schema around a check of Ajv, which takes what is too much out of the value itself. */
function standardSchema(check) {
  const validate = (value) => (check(value) ? { value } : { issues: check.errors });
  return { "~standard": { version: 1, vendor: "ajv", validate } };
}
