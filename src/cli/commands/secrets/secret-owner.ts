import {
  list,
  listOfNamespace,
  remove,
  removeOfNamespace,
  set,
  setOfNamespace,
  type Secret,
  type SecretList,
} from "../../../shared/contract/secrets.js";
import { isNamespace } from "../../../shared/namespace.js";
import { isPackageName, toPathSegments } from "../../../shared/package-name.js";
import { isSecretName, secretNameForm } from "../../../shared/secret-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import type { Settings } from "../../config/settings.js";

export const ownerArgument = { syntax: "<owner>", description: "The worker, such as @team/shop, or the namespace, such as @team" };
export const stageOption = { flags: "--stage", description: "Apply with the next deployment of the worker, not now" };

/** The secrets of one worker or namespace. */
export interface SecretOwner {
  /** `@team/shop` or `@team`. */
  readonly name: string;
  readonly settings: Settings;
  list(): Promise<SecretList>;
  set(name: string, value: string): Promise<Secret>;
  remove(name: string, options: { isForced: boolean }): Promise<void>;
}

/** Throws a usage error when the text names neither a worker nor a namespace, or when values of a namespace would be staged. */
export async function openSecretOwner(context: Context, text: string, { isStaged = false } = {}): Promise<SecretOwner> {
  const isOfNamespace = text !== "*" && isNamespace(text);
  if (!isOfNamespace && !isPackageName(text))
    throw usageError(
      `${JSON.stringify(text)} is neither a worker nor a namespace`,
      "use a worker such as @team/shop, or a namespace such as @team",
    );
  if (isOfNamespace && isStaged) throw usageError("--stage applies to a worker: a namespace has no deployments");
  const operations = { list, set, remove, listOfNamespace, setOfNamespace, removeOfNamespace };
  const { client, settings } = await connect(context, { secrets: operations });
  const { secrets } = client;
  if (isOfNamespace) {
    const namespace = text;
    return {
      name: text,
      settings,
      list: () => secrets.listOfNamespace({ params: { namespace } }),
      set: async (key, value) => (await secrets.setOfNamespace({ params: { namespace, key }, body: { value } })).data,
      remove: async (key, { isForced }) => {
        await secrets.removeOfNamespace({ params: { namespace, key }, ...(isForced && { query: { force: "true" as const } }) });
      },
    };
  }
  const worker = toPathSegments(text);
  return {
    name: text,
    settings,
    list: () => secrets.list({ params: worker }),
    set: async (key, value) => (await secrets.set({ params: { ...worker, key }, body: { value, stage: isStaged } })).data,
    remove: async (key, { isForced }) => {
      await secrets.remove({ params: { ...worker, key }, ...(isForced && { query: { force: "true" as const } }) });
    },
  };
}

/** Checks the name of a secret. Never prints what follows an equals sign. */
export function parseSecretName(text: string): string {
  if (text.includes("="))
    throw usageError(
      "the command line contains a value; it is now in your shell history and was visible to other users of this machine",
      "replace that value at its source; give only the name, and the value at the prompt, with --from-file FILE or by standard input",
    );
  if (!isSecretName(text)) throw usageError(`${JSON.stringify(text)} is not ${secretNameForm}`);
  return text;
}
