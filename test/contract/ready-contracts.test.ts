import { fileURLToPath } from "node:url";
import { build, type OutputFile } from "esbuild";
import { expect, test } from "vitest";
import { safeParse } from "zod/mini";
import { runtime } from "../../src/shared/contract/discovery.js";
import type { EndpointDefinition } from "../../src/shared/contract/endpoint.js";
import { list } from "../../src/shared/contract/workers.js";

type ReadyEndpoint = EndpointDefinition & Required<Pick<EndpointDefinition, "result">>;

const fileOf = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** The module that the quick commands get in the place of a contract. */
async function ready(name: string): Promise<Record<string, ReadyEndpoint>> {
  const { readyContract } = (await import(fileOf("scripts/ready-contracts.mjs"))) as { readyContract: (file: string) => Promise<string> };
  const contents = await readyContract(fileOf(`build/shared/contract/${name}.js`));
  const bundle = await build({ stdin: { contents, resolveDir: fileOf(".") }, bundle: true, format: "esm", write: false });
  const [{ text }] = bundle.outputFiles as [OutputFile];
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<string, ReadyEndpoint>;
}

const worker = { name: "a", path: "/a", removable: true, source: "uploaded", versions: ["1.0.0", "2.0.0"], disabledVersions: ["1.0.0"] };
const deploy = { digest: "0".repeat(64), at: 7, commit: "abcdef0", dirty: true, message: "words", by: "somebody" };
const others = [undefined, null, true, -1, 1.5, 2 ** 53, "", "other", "\u{1f600}".repeat(251), "x".repeat(501), [], ["a"], [7], {}];

/** The value, and it with each part of it left out, in the place of something else, or with more in it. */
function* variationsOf(value: unknown): Generator {
  yield value;
  yield* others;
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield { ...value, unknown: { to: "all" } };
  for (const [key, part] of Object.entries(value)) {
    for (const variation of variationsOf(part)) {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[key] = variation;
      yield copy;
    }
  }
}

test.for([
  { name: "workers", endpoint: "list", made: list, answer: [worker, { ...worker, deploys: { "1.0.0": deploy, "2.0.0": deploy } }] },
  {
    name: "discovery",
    endpoint: "runtime",
    made: runtime,
    answer: { name: "runtimed", api: "/api", version: "1", cpanel: "/cpanel", docs: "/docs", apps: "https://apps.example" },
  },
])("the ready check of $name accepts and leaves out what zod does", async ({ name, endpoint, made, answer }) => {
  const { [endpoint]: checked } = await ready(name);
  const { result, ...rest } = checked as ReadyEndpoint;
  const { result: schema, ...definition } = made;
  expect(rest).toEqual(definition);
  const counts = { accepted: 0, refused: 0 };
  for (const variation of variationsOf(answer)) {
    const text = JSON.stringify(variation);
    if (text === undefined) continue;
    const expected = safeParse(schema, JSON.parse(text));
    const found = await result["~standard"].validate(JSON.parse(text));
    expect("value" in found ? found.value : "refused", text).toEqual(expected.success ? expected.data : "refused");
    counts[expected.success ? "accepted" : "refused"] += 1;
  }
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(10);
});
