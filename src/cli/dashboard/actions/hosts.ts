import type { HostRow } from "../../../shared/host-rows.js";
import type { Client } from "../../../shared/client.js";
import { normalHostName } from "../../../shared/host-name.js";
import { isPackageName } from "../../../shared/package-name.js";
import type { Action } from "./action.js";

/** A host name, the worker that the host serves, and optionally a version or version range of the worker. */
export type HostTarget = Pick<HostRow, "host" | "worker" | "version">;

async function add(client: Client, { host, worker, version }: HostTarget): Promise<string> {
  await client.hosts.add({ params: { host }, body: { worker, ...(version !== undefined && { version }) } });
  return `${host} leads to ${worker}`;
}

async function remove(client: Client, { host }: HostTarget): Promise<string> {
  await client.hosts.remove({ params: { host } });
  return `${host} leads to no worker`;
}

const lineOf = ({ host, worker, version }: HostTarget) =>
  `runtimectl hosts add ${host} ${worker}${version === undefined ? "" : ` --version ${version}`}`;

/** Adds a host name that the manifest of a worker requests. */
export const addRequestedHost: Action<HostRow> = {
  id: "hosts.add",
  line: lineOf,
  permission: "workers:install",
  refusal: ({ state, host }) => (state === "added" ? `${host} is added already` : undefined),
  run: add,
  undo: remove,
};

export const addHost: Action<HostTarget> = { id: "hosts.new", line: lineOf, permission: "workers:install", run: add, undo: remove };

export const removeHost: Action<HostRow> = {
  id: "hosts.remove",
  line: ({ host }) => `runtimectl hosts remove ${host}`,
  permission: "workers:install",
  refusal: ({ state, host }) => (state === "requested" ? `${host} is not added` : undefined),
  confirmation: ({ host, worker }) => ({ consequence: `Remove ${host}; requests to it no longer reach ${worker}`, name: host }),
  run: remove,
  undo: add,
};

/** Parses `HOST WORKER [VERSION]`. If the text is invalid, returns a sentence about the problem. */
export function parseHostTarget(text: string): HostTarget | string {
  const [hostText = "", worker = "", version, ...rest] = text.split(/\s+/);
  const host = normalHostName(hostText);
  if (host === undefined) return `${hostText} is not a host name such as shop.example.org`;
  if (!isPackageName(worker)) return worker === "" ? "the name of the worker is missing" : `${worker} is not the name of a worker`;
  if (rest.length > 0) return "there is text after the version";
  return { host, worker, version };
}
