import { toPathSegments } from "../../../shared/package-name.js";
import type { Action } from "./action.js";

/** A secret that a worker uses, requires or inherits from its namespace. */
export interface SecretTarget {
  readonly worker: string;
  readonly name: string;
  /** Whether only the namespace of the worker has a value for the secret. */
  readonly isOfNamespace: boolean;
  /** Whether an active version requires the secret although no value is set. */
  readonly isMissing: boolean;
}

const paramsOf = ({ worker, name }: Pick<SecretTarget, "worker" | "name">) => ({ ...toPathSegments(worker), key: name });
const lineOf =
  (verb: string) =>
  ({ worker, name }: SecretTarget) =>
    `runtimectl secrets ${verb} ${worker} ${name}`;

function removalRefusal({ isMissing, isOfNamespace, name }: SecretTarget): string | undefined {
  if (isMissing) return `${name} is not set`;
  return isOfNamespace ? `${name} is a secret of the namespace; remove it with runtimectl secrets remove` : undefined;
}

/** Sets the value of a secret. The dashboard never shows the value. */
export const setSecret: Action<Pick<SecretTarget, "worker" | "name"> & { readonly value: string }> = {
  id: "secrets.set",
  line: ({ worker, name }) => `runtimectl secrets set ${worker} ${name}`,
  permission: "workers:install",
  run: async (client, { value, ...secret }) => {
    await client.secrets.set({ params: paramsOf(secret), body: { value } });
    return `${secret.name} of ${secret.worker} is set; new isolates start with it`;
  },
};

export const removeSecret: Action<SecretTarget> = {
  id: "secrets.remove",
  line: lineOf("remove"),
  permission: "workers:install",
  refusal: removalRefusal,
  confirmation: ({ worker, name }) => ({ consequence: `Remove the secret ${name} of ${worker}; its value cannot be restored`, name }),
  run: async (client, secret) => {
    await client.secrets.remove({ params: paramsOf(secret) });
    return `${secret.name} of ${secret.worker} removed`;
  },
};

/** Removes a secret, even if an active version requires it. */
export const forceRemoveSecret: Action<SecretTarget> = {
  id: "secrets.forceRemove",
  line: (secret) => `${removeSecret.line(secret)} --force`,
  permission: "workers:install",
  refusal: removalRefusal,
  confirmation: ({ worker, name }) => ({
    consequence: `Remove the secret ${name} of ${worker} even if an active version requires it; that version then cannot start`,
    name,
  }),
  run: async (client, secret) => {
    await client.secrets.remove({ params: paramsOf(secret), query: { force: "true" } });
    return `${secret.name} of ${secret.worker} removed`;
  },
};
