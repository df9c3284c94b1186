import { registerHooks } from "node:module";

const specifier = "cloudflare:workers";
/**
 * Key of the global property with the values of the module `cloudflare:workers`. The isolate loads this module from a data URL, so the
 * module reads its values from the global property.
 */
const key = Symbol.for(specifier);
const source = `
const { env, waitUntil } = globalThis[Symbol.for(${JSON.stringify(specifier)})];
export { env, waitUntil };
export class WorkerEntrypoint {
  constructor(ctx, env) {
    this.ctx = ctx;
    this.env = env;
  }
}
`;
const url = `data:text/javascript,${encodeURIComponent(source)}`;

/** The values that a worker imports from `cloudflare:workers`. */
export interface CloudflareModule {
  readonly env: Readonly<Record<string, unknown>>;
  readonly waitUntil: (promise: unknown) => void;
}

/** Makes `import { env, waitUntil, WorkerEntrypoint } from "cloudflare:workers"` work. */
export function installCloudflareModule(values: CloudflareModule): void {
  Object.defineProperty(globalThis, key, { value: values });
  registerHooks({
    resolve: (imported, context, next) =>
      imported === specifier ? { url, format: "module", shortCircuit: true } : next(imported, context),
  });
}
