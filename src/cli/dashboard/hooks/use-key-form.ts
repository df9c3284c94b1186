import { useState } from "react";
import { usualLifetime } from "../../../shared/contract/keys.js";
import type { Principal } from "../../../shared/contract/principal.js";
import { rolePermissions, roles, type Role } from "../../../shared/permissions.js";
import { problemOf, toBody, toLine, type KeyFormState } from "../key-form-state.js";
import { endOf } from "../key-end.js";
import { OneTimeSecret } from "../one-time-secret.js";
import { reasonOf } from "../reason-of.js";
import type { Session } from "../session.js";
import { useDashboard } from "./use-dashboard.js";

export type KeyField = "name" | "role" | "permissions" | "namespaces" | "lifetime";

export interface KeyForm {
  readonly draft: KeyFormState;
  readonly field: KeyField;
  /** What the key in use can give on. */
  readonly grantableRoles: readonly Role[];
  /** What is wrong, or must be agreed to. */
  readonly message: string | undefined;
  readonly isBusy: boolean;
  readonly change: (part: Partial<KeyFormState>) => void;
  readonly onKey: (key: string) => boolean;
  readonly onSubmit: () => void;
}

/** A form for a new key: its fields, what is wrong with them, and the key when it is made. */
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
        about: [`key ${id}: ${name}, ${role}, namespaces ${namespaces.join(" ")}, ${endOf(expiresAt)}`, `the same: ${toLine(draft)}`],
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
      return setMessage("a key that never ends stays a risk for ever; enter again creates it");
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
