import * as z from "zod";
import { isPackageName } from "../package-name.js";
import { normalHostName } from "../host-name.js";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";
import { Success, successOf } from "./success.js";

/** Maximum length of a version range in characters. No useful range is longer. */
const maximumRangeLength = 100;

const hostName = z
  .string()
  .transform((text, context) => normalHostName(text) ?? invalidHost(context, text))
  .describe("DNS name in lower case, such as `shop.example.org`");

function invalidHost(context: z.RefinementCtx, text: string): never {
  context.addIssue({ code: "custom", message: "is not a DNS host name without port, such as shop.example.org", input: text });
  return z.NEVER;
}

/** A host name that serves one worker. */
export const Host = z.object({
  host: z.string(),
  worker: z.string(),
  version: z.string().optional().describe("Semver range of the version that serves the host; absent for the active version"),
  createdAt: Timestamp,
  createdBy: z.string().describe("Name of the key that added it"),
});
export type Host = z.output<typeof Host>;

/** A host name in the manifest of an active version that does not serve this worker. The host name serves no worker or another worker. */
export const RequestedHost = z.object({ host: z.string(), worker: z.string() });
export type RequestedHost = z.output<typeof RequestedHost>;

const HostParams = z.object({ host: hostName });

const AddHost = z.object({
  worker: z.string().refine(isPackageName, "must be the name of a worker"),
  version: z.string().min(1).max(maximumRangeLength).optional().describe("A version or a semver range, such as `^1`"),
});

export const list = endpoint({
  method: "GET",
  path: "/hosts",
  summary: "List the host names of workers; a restricted key sees those of its namespaces only",
  access: "workers:read",
  status: 200,
  result: z.object({
    hosts: z.array(Host),
    requested: z.array(RequestedHost).describe("Hosts in manifests of active versions that no operator has added for the worker"),
    appDomain: z.string().optional().describe("Domain below which workers have automatic host names (RUNTIME_APP_DOMAIN)"),
  }),
});

export const ask = endpoint({
  method: "GET",
  path: "/hosts/ask",
  summary: "Tell a proxy on this machine whether a certificate for a host name may be issued",
  access: "public",
  localOnly: true,
  query: z.object({ domain: z.string() }),
  status: 200,
  result: Success,
  errors: ["HOST_NOT_FOUND"],
});

export const add = endpoint({
  method: "PUT",
  path: "/hosts/:host",
  summary: "Let a host name lead to a worker, or change the version that serves it",
  change: "host.added",
  access: "workers:install",
  params: HostParams,
  body: AddHost,
  inputErrors: { host: "INVALID_HOST" },
  status: 200,
  result: successOf(Host),
  errors: [
    "HOST_NOT_ALLOWED",
    "HOST_TAKEN",
    "NAMESPACE_DENIED",
    "TOO_MANY_HOSTS",
    "KEY_STORE_UNAVAILABLE",
    "INDEX_DIVERGED",
    "INSUFFICIENT_STORAGE",
  ],
});

export const remove = endpoint({
  method: "DELETE",
  path: "/hosts/:host",
  summary: "Let a host name lead to no worker any more",
  change: "host.removed",
  access: "workers:install",
  params: HostParams,
  inputErrors: { host: "INVALID_HOST" },
  status: 200,
  result: Success,
  errors: ["HOST_NOT_FOUND", "NAMESPACE_DENIED", "KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED", "INSUFFICIENT_STORAGE"],
});
