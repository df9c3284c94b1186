import validRange from "semver/ranges/valid.js";
import { ApiError } from "../../shared/api-error.js";
import type { Host } from "../../shared/contract/hosts.js";
import type { Principal } from "../../shared/contract/principal.js";
import { normalHostName } from "../../shared/host-name.js";
import { namespacesCover } from "../../shared/namespace.js";
import type { HostSuffix } from "../config/request-hosts.js";
import type { HostTable } from "../hosts/host-table.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";

/** Maximum number of host names that the daemon stores for workers. All host names are in memory. */
const maximumHosts = 10_000;

interface HostHandlersOptions {
  readonly hosts: HostTable;
  /** Returns true if a worker is installed. With `version`, returns true if this version of the worker is installed. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  readonly config: {
    readonly appDomain: string | undefined;
    readonly hostSuffixes: readonly HostSuffix[];
    readonly ownHostNames: ReadonlySet<string>;
  };
  /** Returns the current time in Unix seconds. */
  readonly now: () => number;
}

export function createHostHandlers({ hosts, isInstalled, config, now }: HostHandlersOptions): ResourceHandlers<"hosts"> {
  return {
    list: ({ principal: { namespaces } }) => ({
      hosts: hosts.list().filter(({ worker }) => namespacesCover(namespaces, worker)),
      requested: hosts.listRequested().filter(({ worker }) => namespacesCover(namespaces, worker)),
      ...(config.appDomain !== undefined && { appDomain: config.appDomain }),
    }),
    ask: ({ query: { domain } }) => {
      const name = normalHostName(domain);
      const automatic = name === undefined ? undefined : hosts.automaticTarget(name);
      const isServed =
        name !== undefined &&
        (config.ownHostNames.has(name) ||
          hosts.get(name) !== undefined ||
          (automatic !== undefined && isInstalled(automatic.name, automatic.range)));
      if (!isServed) throw notFound(name ?? domain);
      return { success: true };
    },
    add: async ({ params: { host: name }, body, principal }) => {
      assertNamespace(principal, body.worker);
      if (body.version !== undefined && validRange(body.version) === null)
        throw new ApiError(
          "INVALID_REQUEST",
          `The version ${JSON.stringify(body.version)} is not valid. Send a version such as 1.4.2, a range such as ^1.4.0, or no version.`,
        );
      assertMayAdd(principal, { name, worker: body.worker, hosts, config });
      const before = hosts.get(name);
      if (before && before.worker !== body.worker) throw taken(name, before, principal);
      if (!before && hosts.size >= maximumHosts)
        throw new ApiError(
          "TOO_MANY_HOSTS",
          `The daemon has the maximum of ${maximumHosts} host names. Remove a host name that no worker needs.`,
        );
      const host: Host = {
        host: name,
        worker: body.worker,
        ...(body.version !== undefined && { version: body.version }),
        createdAt: before?.createdAt ?? now(),
        createdBy: before?.createdBy ?? principal.name,
      };
      if (!(await hosts.put(host))) throw taken(name, hosts.get(name), principal);
      return { success: true, data: host };
    },
    remove: async ({ params: { host: name }, principal }) => {
      const host = hosts.get(name);
      // Throws the same error for an unknown host name as for a host name outside the key's namespaces. The holder of a key therefore
      // cannot find out host names of other namespaces.
      if (!host || !namespacesCover(principal.namespaces, host.worker)) throw notFound(name);
      if (!(await hosts.remove(name))) throw notFound(name);
      return { success: true };
    },
  };
}

function assertMayAdd(
  principal: Principal,
  { name, worker, hosts, config }: { name: string; worker: string } & Pick<HostHandlersOptions, "hosts" | "config">,
): void {
  const reserved = hosts.reservedReason(name);
  if (reserved !== undefined) throw new ApiError("HOST_NOT_ALLOWED", reserved);
  if (principal.namespaces.includes("*")) return;
  const namespace = worker.slice(0, worker.indexOf("/"));
  const suffixes = config.hostSuffixes.filter((entry) => entry.namespace === namespace);
  if (suffixes.some(({ suffix }) => (suffix.startsWith(".") ? name.endsWith(suffix) : name === suffix))) return;
  const allowed = suffixes.map(({ suffix }) => (suffix.startsWith(".") ? `*${suffix}` : suffix)).join(", ");
  throw new ApiError(
    "HOST_NOT_ALLOWED",
    allowed === ""
      ? `RUNTIME_HOST_SUFFIXES allows no host names for ${namespace}. Ask the operator to allow ${name}.`
      : `${namespace} is allowed to use only the host names ${allowed}. ${name} is not one of them.`,
  );
}

function taken(name: string, host: Host | undefined, { namespaces }: Principal): ApiError {
  const owner = host && namespacesCover(namespaces, host.worker) ? host.worker : undefined;
  const text =
    owner === undefined
      ? "a worker that this key cannot see. Choose another host name, or ask the operator to remove it."
      : `${owner}. Remove the host name from ${owner}, then retry.`;
  return new ApiError("HOST_TAKEN", `The host name ${name} belongs to ${text}`);
}

function notFound(name: string): ApiError {
  return new ApiError("HOST_NOT_FOUND", `No worker has the host name ${JSON.stringify(name)}.`);
}
