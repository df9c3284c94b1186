import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesWithin } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { SecretStore } from "../secrets/secret-store.js";

interface SecretHandlersOptions {
  readonly secrets: Pick<SecretStore, "list" | "missing" | "set" | "remove" | "rotateKey">;
  /** Returns the current time in Unix seconds. */
  readonly now: () => number;
}

export function createSecretHandlers({ secrets, now }: SecretHandlersOptions): ResourceHandlers<"secrets"> {
  const listOf = (owner: string) => ({ secrets: secrets.list(owner), missing: secrets.missing(owner) });
  return {
    list: ({ params }) => listOf(fromPathSegments(params)),
    set: async ({ params, body: { value, stage: isStaged = false }, principal }) => {
      const { key: name } = params;
      const owner = fromPathSegments(params);
      return { success: true, data: await secrets.set({ owner, name, value, isStaged, setAt: now(), setBy: principal.name }) };
    },
    remove: async ({ params, query: { force } }) => {
      await secrets.remove(fromPathSegments(params), params.key, { isForced: force === "true" });
      return { success: true };
    },
    listOfNamespace: ({ params: { namespace }, principal }) => {
      assertNamespaces(principal, namespace);
      return listOf(namespace);
    },
    setOfNamespace: async ({ params: { namespace: owner, key: name }, body: { value }, principal }) => {
      assertNamespaces(principal, owner);
      return { success: true, data: await secrets.set({ owner, name, value, isStaged: false, setAt: now(), setBy: principal.name }) };
    },
    removeOfNamespace: async ({ params: { namespace, key }, query: { force }, principal }) => {
      assertNamespaces(principal, namespace);
      await secrets.remove(namespace, key, { isForced: force === "true" });
      return { success: true };
    },
    rotateKey: async ({ principal }) => {
      assertNamespaces(principal, "*");
      return { success: true, data: await secrets.rotateKey() };
    },
  };
}

/** Throws NAMESPACE_DENIED if the key is not allowed to manage secrets of the namespace. The namespace `*` stands for all namespaces. */
function assertNamespaces({ name, namespaces }: Principal, needed: string): void {
  if (namespacesWithin([needed], namespaces)) return;
  throw new ApiError(
    "NAMESPACE_DENIED",
    `The key "${name}" is allowed to manage only ${namespaces.join(", ")}. ${needed === "*" ? "This call needs a key for all namespaces." : `Use a key for ${needed}.`}`,
  );
}
