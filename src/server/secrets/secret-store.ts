import { randomUUID } from "node:crypto";
import { ApiError } from "../../shared/api-error.js";
import type { Secret } from "../../shared/contract/secrets.js";
import { namespaceOf } from "../../shared/namespace.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { SecretsKeySource } from "../config/secrets-key.js";
import type { Log } from "../log/log.js";
import type { RecordStore, StoredRecord } from "../storage/record-store.js";
import { KeyRotation } from "./key-rotation.js";
import { seal, unseal } from "./secret-cipher.js";
import { assertWithinLimits } from "./secret-limits.js";
import {
  recordKeyOf,
  putSecret,
  removeSecret,
  SecretRecords,
  type SecretKind,
  type SecretRecord,
  type StoredSecret,
} from "./secret-records.js";
import { SecretsKeys } from "./secrets-keys.js";
import { UnknownSecretsKeyError } from "./unknown-secrets-key-error.js";

/**
 * Maximum number of attempts for a change of records that other daemons change at the same time. After the last attempt, the change fails.
 */
const maximumAttempts = 5;

interface SecretStoreOptions {
  readonly records: RecordStore;
  readonly keySource: SecretsKeySource;
  /** True if several daemons use the same records through a primary. */
  readonly hasPrimary: boolean;
  /** Called with the workers and namespaces whose effective values have changed. A change of a namespace affects all its workers. */
  readonly onChange: (owners: ReadonlySet<string>) => void;
  readonly log: Log;
}

/** A new value of a secret. */
export interface NewSecret {
  /** Name of a worker, such as `@team/shop`, or a namespace, such as `@team`. */
  readonly owner: string;
  readonly name: string;
  readonly value: string;
  /** True if the value takes effect with the next upload of the worker. */
  readonly isStaged: boolean;
  /** Time when the value is set, in Unix seconds. */
  readonly setAt: number;
  readonly setBy: string;
}

/** The fields of a manifest that determine the environment variables of a worker. */
type Needs = Pick<WorkerManifest, "env" | "secrets">;

/**
 * The secrets of workers and namespaces. Values are encrypted in the database and in memory. The daemon decrypts a value only to start an
 * isolate.
 */
export class SecretStore {
  readonly #options: SecretStoreOptions;
  readonly #records: SecretRecords;
  readonly #keys: SecretsKeys;
  readonly #rotation: KeyRotation;
  /** The field `secrets` in the manifest of each worker's active version, by worker name. */
  readonly #active = new Map<string, WorkerManifest["secrets"]>();
  /** Text about the effective values of each owner. If the text differs, the values have changed. */
  readonly #inEffect = new Map<string, string>();

  /**
   * Opens the store. Rejects with ConfigError if the key file is not readable. With a primary, rejects with UnknownSecretsKeyError if the
   * key of a stored secret is missing.
   */
  static async open(options: SecretStoreOptions): Promise<SecretStore> {
    const store = new SecretStore(options);
    const unknown = store.unknownKeyIds();
    if (unknown.length > 0 && options.hasPrimary) throw new UnknownSecretsKeyError(unknown, store.#keys.source);
    if (unknown.length > 0)
      options.log.error({ keyIds: unknown }, "stored secrets cannot be decrypted: restore the key for secrets, or set these secrets again");
    await store.#rotation.finish();
    return store;
  }

  private constructor(options: SecretStoreOptions) {
    this.#options = options;
    this.#records = new SecretRecords(options.records);
    this.#keys = SecretsKeys.open(options.keySource, options);
    this.#rotation = new KeyRotation({ records: this.#records, keys: this.#keys, log: options.log });
    for (const owner of this.#records.owners()) this.#updateEffect(owner);
    this.#records.onChange((owners) => this.#noteChange(owners));
  }

  /** Returns the secrets of a namespace, or the secrets of a worker and of its namespace, sorted by name and without values. */
  list(owner: string): Secret[] {
    const namespace = namespaceOf(owner);
    const own = this.#records.of(owner).map((record) => describe(record, isNamespace(owner) ? "namespace" : "worker"));
    const inherited = namespace === undefined ? [] : this.#records.of(namespace).map((record) => describe(record, "namespace"));
    return [...own, ...inherited].toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  }

  /** Records the field `secrets` in the manifest of a worker's active version. Undefined if the worker has no active version. */
  noteActive(worker: string, secrets: WorkerManifest["secrets"] | undefined): void {
    if (secrets === undefined || secrets.length === 0) this.#active.delete(worker);
    else this.#active.set(worker, secrets);
  }

  /**
   * Returns the names of secrets that active versions require and that have no value. `owner` is a worker, or a namespace with all its
   * workers.
   */
  missing(owner: string): string[] {
    return [...new Set(this.#activeWorkers(owner).flatMap((worker) => this.#missingOf(worker, this.#active.get(worker) ?? [])))];
  }

  /** Writes a value and syncs it to disk. Throws TOO_MANY_SECRETS, SECRETS_KEY_UNAVAILABLE or the errors of a record store. */
  async set({ owner, name, value, isStaged, setAt, setBy }: NewSecret): Promise<Secret> {
    const kind: SecretKind = isStaged ? "staged-secret" : "secret";
    const secret = await this.#rotation.withCurrentKey(async (key) => {
      // Concurrent calls wait for each other. The check therefore uses the newest records.
      assertWithinLimits(this.#records, { owner, name, kind, value });
      const sealed = seal(key, value, recordKeyOf({ owner, name }));
      const sealedSecret: StoredSecret = { owner, name, valueId: randomUUID(), setAt, setBy, sealed };
      await this.#records.transact([putSecret(kind, sealedSecret)]);
      return sealedSecret;
    });
    return describe({ kind, secret }, isNamespace(owner) ? "namespace" : "worker");
  }

  /**
   * Deletes a secret and its staged value. Throws SECRET_NOT_FOUND. If an active version requires the secret, throws SECRET_IN_USE unless
   * `isForced` is true.
   */
  async remove(owner: string, name: string, { isForced }: { isForced: boolean }): Promise<void> {
    const stored = this.#records.of(owner).filter(({ secret }) => secret.name === name);
    if (stored.length === 0) throw new ApiError("SECRET_NOT_FOUND", `${owner} has no secret ${name}.`);
    const [user] = isForced ? [] : this.#usersOf(owner, name);
    if (user !== undefined)
      throw new ApiError(
        "SECRET_IN_USE",
        `The secret ${name} was not removed, because the active version of ${user} cannot start without it. Deploy a version that does not require the secret, or force the removal.`,
      );
    await this.#records.transact(stored.map(({ kind, secret }) => removeSecret(kind, secret)));
  }

  /** Throws SECRET_MISSING if a required secret has no value. If `countsStaged` is true, a staged value is enough. */
  assertPresent(worker: string, { secrets }: Pick<Needs, "secrets">, { countsStaged }: { countsStaged: boolean }): void {
    const missing = this.#missingOf(worker, secrets, { countsStaged });
    if (missing.length === 0) return;
    throw new ApiError(
      "SECRET_MISSING",
      `${worker} requires ${missing.length === 1 ? "the secret" : "the secrets"} ${missing.join(", ")}. Nothing was changed. Set each secret with: runtimectl secrets set ${worker} NAME`,
      { details: { missing } },
    );
  }

  /**
   * Returns the environment variables of a worker: the manifest's `env`, overridden by the namespace's secrets, then by the worker's
   * secrets. Throws WORKER_START_FAILED if a required secret is missing or a value cannot be decrypted.
   */
  environmentOf(worker: string, { env, secrets }: Needs, { withStaged = false } = {}): Record<string, string> {
    const [missing] = this.#missingOf(worker, secrets, { countsStaged: withStaged });
    if (missing !== undefined)
      throw startFailed(`It requires the secret ${missing}, which is not set. Set it with: runtimectl secrets set ${worker} ${missing}`);
    const namespace = namespaceOf(worker);
    const layers: SecretRecord[] = [
      ...(namespace === undefined ? [] : this.#records.of(namespace)),
      ...this.#records.of(worker).filter(({ kind }) => kind === "secret"),
      ...this.#records.of(worker).filter(({ kind }) => withStaged && kind === "staged-secret"),
    ];
    return Object.fromEntries([...Object.entries(env), ...layers.map(({ secret }) => [secret.name, this.#open(secret)] as const)]);
  }

  /**
   * Makes the staged values of a worker effective and syncs this change to disk. Returns a function that reverts the change, unless another
   * call has changed one of these values.
   */
  async applyStaged(worker: string): Promise<() => Promise<void>> {
    for (let attempt = 1; attempt <= maximumAttempts; attempt += 1) {
      const staged = this.#records.of(worker).filter(({ kind }) => kind === "staged-secret");
      if (staged.length === 0) return async () => undefined;
      const replaced = staged.map(({ secret }) => this.#records.find(worker, secret.name, "secret")?.secret);
      const applied = await this.#records.transact(
        staged.flatMap(({ secret, revision }) => [putSecret("secret", secret), removeSecret("staged-secret", secret, revision)]),
      );
      if (!applied) continue;
      const reverted = staged.flatMap(({ secret }, index) => {
        const before = replaced[index];
        const { revision } = applied[index * 2] as StoredRecord;
        return [
          before ? putSecret("secret", before, revision) : removeSecret("secret", secret, revision),
          putSecret("staged-secret", secret, 0),
        ];
      });
      return async () => {
        if (!(await this.#records.transact(reverted)))
          this.#options.log.warn(
            { worker },
            "staged secrets of a failed upload stay in effect, because another call changed them: check the secrets of the worker",
          );
      };
    }
    throw new ApiError("KEY_STORE_UNAVAILABLE", "Other calls are changing the staged secrets of the worker. Nothing was changed. Retry.", {
      retryAfterSeconds: 1,
    });
  }

  /**
   * Encrypts all values with a new key, or with the first key in the operator's file. Throws SECRETS_KEY_UNCHANGED if all values already
   * use that key.
   */
  rotateKey(): Promise<{ keyId: string; reencrypted: number }> {
    return this.#rotation.run();
  }

  /** Returns the ids of encryption keys that stored values need and that this daemon does not have. */
  unknownKeyIds(): string[] {
    const ids = new Set(this.#records.all().map(({ secret }) => secret.sealed.keyId));
    return [...ids].filter((id) => this.#keys.find(id) === undefined);
  }

  /** Returns the location of the encryption key. Also returns its problem, if there is one. */
  describeKey(): { readonly location: string; readonly problem: string | undefined } {
    return { location: this.#keys.describeLocation(), problem: this.#keys.problem() ?? this.#unknownKeyProblem() };
  }

  #unknownKeyProblem(): string | undefined {
    const unknown = this.unknownKeyIds();
    if (unknown.length === 0) return undefined;
    return `stored secrets are encrypted with the key ${unknown.join(", ")}, which the daemon does not have: restore that key, or set these secrets again`;
  }

  #noteChange(owners: ReadonlySet<string>): void {
    const changed = [...owners].filter((owner) => this.#updateEffect(owner));
    const usable = changed.filter((owner) => this.#canOpenAll(owner));
    for (const owner of changed)
      if (!usable.includes(owner))
        this.#options.log.error(
          { owner },
          `changed secrets cannot be decrypted, so running workers keep the previous values: ${this.#options.hasPrimary ? "give this daemon the key of the other daemons, and restart" : "set the secrets of this owner again"}`,
        );
    if (usable.length > 0) this.#options.onChange(new Set(usable));
  }

  /** Updates the text about the effective values of an owner. Returns whether the values have changed. */
  #updateEffect(owner: string): boolean {
    const before = this.#inEffect.get(owner) ?? "";
    const effect = this.#describeEffect(owner);
    if (effect === "") this.#inEffect.delete(owner);
    else this.#inEffect.set(owner, effect);
    return effect !== before;
  }

  /** Returns a text that is different for each set of effective values. Returns an empty text if the owner has none. */
  #describeEffect(owner: string): string {
    const values = this.#records.of(owner).flatMap(({ kind, secret }) => (kind === "secret" ? `${secret.name} ${secret.valueId}` : []));
    return values.toSorted().join("\n");
  }

  #canOpenAll(owner: string): boolean {
    return this.#records.of(owner).every(({ kind, secret }) => kind !== "secret" || this.#keys.find(secret.sealed.keyId) !== undefined);
  }

  #open(secret: StoredSecret): string {
    const key = this.#keys.find(secret.sealed.keyId);
    const subject = `The secret ${secret.name} of ${secret.owner} cannot be decrypted`;
    if (!key) throw startFailed(`${subject}: the daemon does not have the key with the id ${secret.sealed.keyId}.`);
    try {
      return unseal(key, secret.sealed, recordKeyOf(secret));
    } catch {
      throw startFailed(`${subject}: the stored value is damaged. Set the secret again.`);
    }
  }

  #missingOf(worker: string, secrets: WorkerManifest["secrets"], { countsStaged = false } = {}): string[] {
    const namespace = namespaceOf(worker);
    const isSet = (name: string) =>
      this.#records.find(worker, name, "secret") !== undefined ||
      (countsStaged && this.#records.find(worker, name, "staged-secret") !== undefined) ||
      (namespace !== undefined && this.#records.find(namespace, name, "secret") !== undefined);
    return secrets.flatMap(({ name, optional }) => (optional || isSet(name) ? [] : name));
  }

  /** Returns the workers whose active version requires the secret and would have no value without the value of this owner. */
  #usersOf(owner: string, name: string): string[] {
    const isRequiredBy = (worker: string) =>
      (this.#active.get(worker) ?? []).some((secret) => secret.name === name && !secret.optional) &&
      ![worker, namespaceOf(worker) ?? worker].some((source) => source !== owner && this.#records.find(source, name, "secret"));
    return this.#records.find(owner, name, "secret") ? this.#activeWorkers(owner).filter(isRequiredBy) : [];
  }

  #activeWorkers(owner: string): string[] {
    return [...this.#active.keys()].filter((worker) => worker === owner || namespaceOf(worker) === owner);
  }
}

function describe({ kind, secret: { name, setAt, setBy } }: Pick<SecretRecord, "kind" | "secret">, source: Secret["source"]): Secret {
  return { name, source, staged: kind === "staged-secret", setAt, setBy };
}

function isNamespace(owner: string): boolean {
  return owner.startsWith("@") && !owner.includes("/");
}

function startFailed(reason: string): ApiError {
  return new ApiError("WORKER_START_FAILED", `The worker cannot be started. ${reason}`);
}
