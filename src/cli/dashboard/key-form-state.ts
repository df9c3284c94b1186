import { parseLifetimeSeconds } from "../../shared/duration.js";
import { isNamespace } from "../../shared/namespace.js";
import type { Permission, Role } from "../../shared/permissions.js";
import { endOf } from "./key-end.js";

/** A key to be, as far as the form is filled in. */
export interface KeyFormState {
  readonly name: string;
  readonly role: Role;
  /** Count with the role custom only. */
  readonly permissions: readonly Permission[];
  /** As they are typed, with spaces between. */
  readonly namespaces: string;
  readonly lifetime: string;
}

/** What is missing or wrong; undefined when the daemon can be asked. */
export function problemOf(draft: KeyFormState): string | undefined {
  const { name, role, permissions, lifetime } = draft;
  if (name.trim() === "") return "a name is needed: who or what uses the key, such as ci-deploy";
  if (role === "custom" && permissions.length === 0) return "the role custom needs a permission: space chooses it";
  const namespaces = namespacesOf(draft);
  if (namespaces.length === 0) return "a namespace is needed: * for all packages, or such as @team";
  const unknown = namespaces.find((namespace) => !isNamespace(namespace));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not a namespace; they look like @team, * is all`;
  return endOfLifetime(lifetime) === undefined
    ? `${JSON.stringify(lifetime)} is not a lifetime; such as 30d, 2w, 6m (months), 1y, never`
    : undefined;
}

/** What the daemon is asked for. */
export function toBody(draft: KeyFormState) {
  const { name, role, permissions, lifetime } = draft;
  return {
    name: name.trim(),
    role,
    expiresIn: lifetime,
    namespaces: namespacesOf(draft),
    ...(role === "custom" ? { permissions: [...permissions] } : {}),
  };
}

/** The command that makes the same key. */
export function toLine(draft: KeyFormState): string {
  const flags = [
    `--role ${draft.role}`,
    `--name ${JSON.stringify(draft.name.trim())}`,
    `--expires ${draft.lifetime}`,
    ...(draft.role === "custom" ? draft.permissions.map((permission) => `--permission ${permission}`) : []),
    ...namespacesOf(draft)
      .filter((namespace) => namespace !== "*")
      .map((namespace) => `--namespace ${namespace}`),
  ];
  return `runtimectl keys create ${flags.join(" ")}`;
}

/** When a key of this lifetime would end; undefined when it is no lifetime. */
export function endOfLifetime(lifetime: string): string | undefined {
  if (lifetime === "never") return endOf(undefined);
  const seconds = parseLifetimeSeconds(lifetime);
  return seconds === undefined ? undefined : endOf(Math.floor(Date.now() / 1000) + seconds);
}

function namespacesOf({ namespaces }: KeyFormState): string[] {
  return namespaces.split(/[\s,]+/).filter((namespace) => namespace !== "");
}
