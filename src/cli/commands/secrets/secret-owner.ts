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
import { list as listWorkers } from "../../../shared/contract/workers.js";
import { isNamespace } from "../../../shared/namespace.js";
import { isPackageName, toPathSegments } from "../../../shared/package-name.js";
import { isSecretName, secretNameForm } from "../../../shared/secret-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import type { Settings } from "../../config/settings.js";
import { isInstalled } from "../workers/installed-worker.js";

export const ownerArgument = { syntax: "<owner>", description: "The worker, such as @team/shop, or the namespace, such as @team" };
export const stageOption = { flags: "--stage", description: "Apply with the next deployment of the worker, not now" };

/** The operations on the secrets of one worker or of one namespace. */
export interface SecretOwner {
  /** Name of the worker or namespace, such as `@team/shop` or `@team`. */
  readonly name: string;
  readonly settings: Settings;
  /**
   * Resolves with true only if the daemon reports that the worker is not installed. Resolves with false for a namespace, and if the key
   * cannot list workers.
   */
  isMissing(): Promise<boolean>;
  list(): Promise<SecretList>;
  set(name: string, value: string): Promise<Secret>;
  remove(name: string, options: { isForced: boolean }): Promise<void>;
}

/**
 * Connects to the daemon and returns the operations on the secrets of a worker or namespace. Throws a usage error if the name is invalid,
 * or if `--stage` is set for a namespace.
 */
export async function openSecretOwner(context: Context, text: string, { isStaged = false } = {}): Promise<SecretOwner> {
  const isOfNamespace = text !== "*" && isNamespace(text);
  if (!isOfNamespace && !isPackageName(text))
    throw usageError(
      `${JSON.stringify(text)} is neither a worker nor a namespace`,
      "use a worker such as @team/shop, or a namespace such as @team",
    );
  if (isOfNamespace && isStaged) throw usageError("--stage cannot be used with a namespace, because a namespace has no deployments");
  const operations = { list, set, remove, listOfNamespace, setOfNamespace, removeOfNamespace };
  const connection = await connect(context, { secrets: operations, workers: { list: listWorkers } });
  const { client, settings } = connection;
  const { secrets } = client;
  if (isOfNamespace) {
    const namespace = text;
    return {
      name: text,
      settings,
      isMissing: () => Promise.resolve(false),
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
    isMissing: async () => (await isInstalled(connection, text)) === false,
    list: () => secrets.list({ params: worker }),
    set: async (key, value) => (await secrets.set({ params: { ...worker, key }, body: { value, stage: isStaged } })).data,
    remove: async (key, { isForced }) => {
      await secrets.remove({ params: { ...worker, key }, ...(isForced && { query: { force: "true" as const } }) });
    },
  };
}

/**
 * Returns the text if it is a valid name of a secret, else throws a usage error. The error never contains text after an equals sign, which
 * could be the value.
 */
export function parseSecretName(text: string): string {
  if (text.includes("="))
    throw usageError(
      "the command line contains the value of a secret, which is now in your shell history and was visible to other users of this machine",
      "revoke that value where it was issued, and set a new one with --from-file FILE, at the prompt or by standard input",
    );
  if (!isSecretName(text)) throw usageError(`${JSON.stringify(text)} is not a valid name of a secret; use ${secretNameForm}`);
  return text;
}
