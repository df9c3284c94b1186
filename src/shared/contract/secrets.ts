import * as z from "zod";
import { isNamespace } from "../namespace.js";
import { isSecretName, secretNameForm, secretValueProblem } from "../secret-name.js";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";
import { Success, successOf } from "./success.js";
import { WorkerParams, workerSecretParams } from "./worker-params.js";

/** Metadata of a secret. Never contains the value of the secret. */
export const Secret = z.object({
  name: z.string(),
  source: z.enum(["worker", "namespace"]).describe("Where it is set; a secret of the worker overrides one of its namespace"),
  staged: z.boolean().describe("True for a value that takes effect with the next upload of the worker"),
  setAt: Timestamp,
  setBy: z.string().describe("Name of the key that set it"),
});
export type Secret = z.output<typeof Secret>;

const SecretList = z.object({
  secrets: z.array(Secret),
  missing: z.array(z.string()).describe("Secrets that an active version requires and that are not set"),
});
export type SecretList = z.output<typeof SecretList>;

const secretName = z.string().refine(isSecretName, `must be ${secretNameForm}`);
const NamespaceParams = z.object({
  namespace: z.string().refine((text) => text !== "*" && isNamespace(text), "must be a namespace such as @team"),
});
const NamespaceSecretParams = NamespaceParams.extend({ key: secretName });

const secretValue = z
  .string()
  .superRefine((value, context) => {
    const problem = secretValueProblem(value);
    // Creates the validation issue without the field `input`, because an error must never contain the value of a secret.
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  })
  .describe("The value, at most 32 KiB");

const nameErrors = { name: "INVALID_PACKAGE_NAME" } as const;
const namespaceErrors = { namespace: "INVALID_NAMESPACE" } as const;
const secretNameErrors = { key: "INVALID_SECRET_NAME" } as const;
const writeErrors = [
  "SECRETS_KEY_UNAVAILABLE",
  "KEY_STORE_UNAVAILABLE",
  "INDEX_DIVERGED",
  "STORAGE_NOT_WRITABLE",
  "INSUFFICIENT_STORAGE",
] as const;

const RemoveQuery = z.object({
  force: z.enum(["false", "true"]).optional().describe("`true`: remove it although an active version requires it, which then cannot start"),
});

export const list = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/secrets",
  summary: "List the secrets of a worker and of its namespace, without values",
  access: "workers:read",
  namespaced: true,
  params: WorkerParams,
  inputErrors: nameErrors,
  status: 200,
  result: SecretList,
});

export const set = endpoint({
  method: "PUT",
  path: "/workers/:scope/:name/secrets/:key",
  summary: "Set a secret of a worker and start new isolates, or stage it for the next upload",
  change: "secret.set",
  access: "workers:install",
  namespaced: true,
  params: workerSecretParams(secretName),
  body: z.strictObject({
    value: secretValue,
    stage: z.boolean().optional().describe("True: the value takes effect with the next upload of the worker"),
  }),
  inputErrors: { ...nameErrors, ...secretNameErrors },
  status: 200,
  result: successOf(Secret),
  errors: ["TOO_MANY_SECRETS", ...writeErrors],
});

export const remove = endpoint({
  method: "DELETE",
  path: "/workers/:scope/:name/secrets/:key",
  summary: "Remove a secret of a worker, its staged value included",
  change: "secret.removed",
  access: "workers:install",
  namespaced: true,
  params: workerSecretParams(secretName),
  query: RemoveQuery,
  inputErrors: { ...nameErrors, ...secretNameErrors },
  status: 200,
  result: Success,
  errors: ["SECRET_NOT_FOUND", "SECRET_IN_USE", "KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED", "INSUFFICIENT_STORAGE"],
});

export const listOfNamespace = endpoint({
  method: "GET",
  path: "/namespaces/:namespace/secrets",
  summary: "List the secrets of a namespace, without values",
  access: "workers:read",
  params: NamespaceParams,
  inputErrors: namespaceErrors,
  status: 200,
  result: SecretList,
  errors: ["NAMESPACE_DENIED"],
});

export const setOfNamespace = endpoint({
  method: "PUT",
  path: "/namespaces/:namespace/secrets/:key",
  summary: "Set a secret of all workers of a namespace and start new isolates",
  change: "secret.set",
  access: "workers:install",
  params: NamespaceSecretParams,
  body: z.strictObject({ value: secretValue }),
  inputErrors: { ...namespaceErrors, ...secretNameErrors },
  status: 200,
  result: successOf(Secret),
  errors: ["NAMESPACE_DENIED", "TOO_MANY_SECRETS", ...writeErrors],
});

export const removeOfNamespace = endpoint({
  method: "DELETE",
  path: "/namespaces/:namespace/secrets/:key",
  summary: "Remove a secret of a namespace",
  change: "secret.removed",
  access: "workers:install",
  params: NamespaceSecretParams,
  query: RemoveQuery,
  inputErrors: { ...namespaceErrors, ...secretNameErrors },
  status: 200,
  result: Success,
  errors: ["NAMESPACE_DENIED", "SECRET_NOT_FOUND", "SECRET_IN_USE", "KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED", "INSUFFICIENT_STORAGE"],
});

export const rotateKey = endpoint({
  method: "POST",
  path: "/secrets/rotate-key",
  summary: "Encrypt all secrets with a new key; needs a key without namespace restriction",
  change: "secret.key-rotated",
  access: "workers:install",
  status: 200,
  result: successOf(
    z.object({
      keyId: z.string().describe("Id of the key that encrypts all secrets now"),
      reencrypted: z.int().min(0).describe("Number of values that had another key"),
    }),
  ),
  errors: ["NAMESPACE_DENIED", "SECRETS_KEY_UNCHANGED", ...writeErrors],
});
