import { useState } from "react";
import { usualLifetime } from "../../../shared/contract/keys.js";
import type { Principal } from "../../../shared/contract/principal.js";
import { rolePermissions, roles, type Role, type Permission } from "../../../shared/permissions.js";
import { OneTimeSecret } from "./one-time-secret.js";
import { reasonOf, type Session } from "../session/session.js";
import { useDashboard } from "../session/hooks.js";
import { parseLifetimeSeconds } from "../../../shared/duration.js";
import { isNamespace } from "../../../shared/namespace.js";
import { endOn } from "../../output/format.js";

type KeyField = "name" | "role" | "permissions" | "namespaces" | "lifetime";

export interface KeyForm {
  readonly draft: KeyFormState;
  readonly field: KeyField;
  /** The roles that the current API key can grant: it has all permissions of these roles. */
  readonly grantableRoles: readonly Role[];
  /** The validation error, or a warning that the user must confirm. */
  readonly message: string | undefined;
  readonly isBusy: boolean;
  readonly change: (part: Partial<KeyFormState>) => void;
  readonly onKey: (key: string) => boolean;
  readonly onSubmit: () => void;
}

/** Manages the form for a new API key: validates the fields, creates the API key, and shows it once. */
export function useKeyForm(session: Session, principal: Principal): KeyForm {
  const { overlays } = useDashboard();
  const grantableRoles = roles.filter((role) => rolePermissions[role].every((permission) => principal.permissions.includes(permission)));
  const [draft, setDraft] = useState<KeyFormState>(() => ({
    name: "",
    role: grantableRoles.includes("viewer") ? "viewer" : "custom",
    permissions: [],
    namespaces: principal.namespaces.join(" "),
    lifetime: usualLifetime(principal, Date.now() / 1000),
  }));
  const [field, setField] = useState<KeyField>("name");
  const [message, setMessage] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [isSure, setSure] = useState(false);
  const fields: readonly KeyField[] = [
    "name",
    "role",
    ...(draft.role === "custom" ? (["permissions"] as const) : []),
    "namespaces",
    "lifetime",
  ];
  const move = (by: number) => setField(fields[Math.max(0, Math.min(fields.indexOf(field) + by, fields.length - 1))] ?? field);
  const create = async () => {
    try {
      const { data } = await (await session.client()).keys.create({ body: toBody(draft) });
      const { id, name, role, namespaces, expiresAt } = data;
      overlays.show({
        kind: "reveal",
        secret: new OneTimeSecret(data.key),
        about: [`key ${id}: ${name}, ${role}, namespaces ${namespaces.join(" ")}, ${endOf(expiresAt)}`, `equivalent: ${toLine(draft)}`],
      });
    } catch (error) {
      setBusy(false);
      setMessage(reasonOf(error));
    }
    session.live.refresh();
  };
  const onSubmit = () => {
    if (field !== fields.at(-1)) return move(1);
    const problem = problemOf(draft);
    if (problem !== undefined) return setMessage(problem);
    if (draft.lifetime === "never" && !isSure) {
      setSure(true);
      return setMessage("this key will never expire; press enter again to create it");
    }
    setBusy(true);
    void create();
  };
  return {
    draft,
    field,
    grantableRoles,
    message,
    isBusy,
    onSubmit,
    change: (part) => {
      setDraft({ ...draft, ...part });
      setMessage(undefined);
      setSure(false);
    },
    onKey: (key) => {
      if (key === "tab" || key === "down") move(1);
      else if (key === "shift-tab" || key === "up") move(-1);
      else return false;
      return true;
    },
  };
}

/** The field values in the form for a new API key. */
interface KeyFormState {
  readonly name: string;
  readonly role: Role;
  /** The selected permissions. The request contains them only if `role` is `custom`. */
  readonly permissions: readonly Permission[];
  /** The namespaces as typed, separated by spaces or commas. */
  readonly namespaces: string;
  readonly lifetime: string;
}

/** Returns the first validation error. Undefined if the form is valid. */
function problemOf(draft: KeyFormState): string | undefined {
  const { name, role, permissions, lifetime } = draft;
  if (name.trim() === "") return "the name is missing: describe the use of the key, such as ci-deploy";
  if (role === "custom" && permissions.length === 0) return "the role custom requires a permission: select one with space";
  const namespaces = namespacesOf(draft);
  if (namespaces.length === 0) return "the namespace is missing: use * for all packages, or a namespace such as @team";
  const unknown = namespaces.find((namespace) => !isNamespace(namespace));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not a namespace; use a namespace such as @team, or * for all packages`;
  return endOfLifetime(lifetime) === undefined
    ? `${JSON.stringify(lifetime)} is not a lifetime; use a lifetime such as 12h, 30d, 2w, 6m (months), 1y, never`
    : undefined;
}

/** Returns the request body that creates the API key. */
function toBody(draft: KeyFormState) {
  const { name, role, permissions, lifetime } = draft;
  return {
    name: name.trim(),
    role,
    expiresIn: lifetime,
    namespaces: namespacesOf(draft),
    ...(role === "custom" ? { permissions: [...permissions] } : {}),
  };
}

/** Returns the command line that creates the same API key. */
function toLine(draft: KeyFormState): string {
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

/** Returns a text about the expiry of an API key with this lifetime. Undefined for an invalid lifetime. */
export function endOfLifetime(lifetime: string): string | undefined {
  if (lifetime === "never") return endOf(undefined);
  const seconds = parseLifetimeSeconds(lifetime);
  return seconds === undefined ? undefined : endOf(Math.floor(Date.now() / 1000) + seconds);
}

function namespacesOf({ namespaces }: KeyFormState): string[] {
  return namespaces.split(/[\s,]+/).filter((namespace) => namespace !== "");
}

/** Returns a text about the expiry of an API key, with the date. */
function endOf(expiresAt: number | undefined): string {
  return expiresAt === undefined ? "never expires" : `expires ${endOn(expiresAt, Date.now())}`;
}
