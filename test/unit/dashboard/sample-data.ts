import { rolePermissions } from "../../../src/shared/permissions.js";
import { sessionOf } from "../../support/render-dashboard.js";

/** The session of a key with all permissions. */
export const admin = sessionOf(rolePermissions.admin);

/** Response body of a change without data. */
export const success = { success: true };

/** Returns the response body of a change with data. */
export function successOf(data: unknown): unknown {
  return { success: true, data };
}

/** Health state by load status, as the daemon reports both. */
const pluginStates: Readonly<Record<string, string>> = { loaded: "ok", disabled: "disabled", failed: "failing", waiting: "degraded" };

export function listedPlugin(name: string, about: Readonly<Record<string, unknown>> & { readonly status?: string } = {}) {
  const usual = { version: "1.0.0", enabled: true, status: "loaded", source: "uploaded", removable: true, path: `/srv/plugins/${name}` };
  const state = pluginStates[about.status ?? usual.status];
  return { name, ...usual, health: { state, since: 1_750_000_000 }, ...about };
}

export function loadedPlugin(name: string, about: Readonly<Record<string, unknown>> = {}) {
  return { name, base: `/${name}`, dependencies: [], optionalDependencies: [], menus: [], ...about };
}

export function listedKey(id: number, name: string, about: Readonly<Record<string, unknown>> = {}) {
  const usual = { keyPrefix: `rtk_${id}`, role: "viewer", permissions: ["workers:read"], namespaces: ["*"], createdAt: 1_750_000_000 };
  return { id, name, ...usual, ...about };
}

export function fileEntry(path: string, about: Readonly<Record<string, unknown>> = {}) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return { name, path, isDirectory: false, size: 12, updatedAt: 1_750_000_000, ...about };
}

export function listedInstance(name: string, about: Readonly<Record<string, unknown>> = {}) {
  const usual = { version: "1.2.3", isSelf: false, state: "ready", lagSeconds: 0.2, isolates: 2 };
  return { name, id: `id-${name}`, address: `http://10.0.0.1:8000`, ...usual, ...about };
}
