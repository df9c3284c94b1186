import { disable, enable, removeVersion, upload } from "../../shared/contract/worker-changes.js";
import { list as listHosts } from "../../shared/contract/hosts.js";
import { list, type Worker } from "../../shared/contract/workers.js";
import { toPathSegments } from "../../shared/package-name.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import type { Context } from "../command/command.js";
import { findHosts, type WorkerHosts } from "../commands/hosts/worker-hosts.js";
import { activeUrl } from "../commands/workers/active-url.js";
import { answeringVersion, installedVersions } from "../../shared/worker-versions.js";
import { connect, type Connection } from "../client/connection.js";
import type { DeployTarget, Located } from "./deploy-target.js";

const operations = { workers: { list, upload, enable, disable, removeVersion }, hosts: { list: listHosts } };

interface Identity {
  readonly name: string;
  readonly version: string;
}

/** A worker on the daemon to which a version is deployed. Other versions of the worker stay installed. */
export class WorkerTarget implements DeployTarget {
  readonly #context: Context;
  readonly connection: Connection<typeof operations>;
  readonly #identity: Identity;
  readonly existing: DeployTarget["existing"];
  readonly before: string | undefined;

  static async open(context: Context, identity: Identity): Promise<WorkerTarget> {
    const connection = await connect(context, operations);
    const rows = (await connection.client.workers.list()).filter(({ name }) => name === identity.name);
    return new WorkerTarget(context, connection, { identity, rows });
  }

  private constructor(
    context: Context,
    connection: Connection<typeof operations>,
    { identity, rows }: { identity: Identity; rows: readonly Worker[] },
  ) {
    this.#context = context;
    this.connection = connection;
    this.#identity = identity;
    const row = rows.find(({ versions }) => versions.includes(identity.version));
    const { version } = identity;
    this.existing = row && { isEnabled: !row.disabledVersions.includes(version), digest: row.deploys?.[version]?.digest };
    this.before = answeringVersion(installedVersions(rows))?.version;
  }

  get loss(): string | undefined {
    const { name, version } = this.#identity;
    return this.existing && `the upload replaces ${name}@${version}, which cannot be restored`;
  }

  get lines(): DeployTarget["lines"] {
    const { name, version } = this.#identity;
    return { off: `runtimectl workers disable ${name}@${version}`, on: `runtimectl workers enable ${name}@${version}` };
  }

  async upload(file: UploadSource, { isChecked }: { isChecked: boolean }): Promise<void> {
    await this.connection.client.workers.upload({ file, query: isChecked ? { check: "true" } : {} });
  }

  async setEnabled(enabled: boolean): Promise<void> {
    const { name, version } = this.#identity;
    const params = { ...toPathSegments(name), version };
    await this.connection.client.workers[enabled ? "enable" : "disable"]({ params });
  }

  async locate({ isOff }: { readonly isOff: boolean }): Promise<Located> {
    return { url: await activeUrl(this.#context, this.connection, this.#identity, { isToldOfOff: isOff }) };
  }

  /**
   * Returns the host names of the worker, and the host names in `requested` that no operator added. Undefined if the key cannot list hosts.
   */
  async findHosts(requested: readonly string[]): Promise<WorkerHosts | undefined> {
    return findHosts(this.connection, { name: this.#identity.name, requested });
  }

  /**
   * Deletes the oldest uploaded versions of the worker, so that `count` versions remain. Never deletes the deployed version or the active
   * version.
   */
  async deleteOldVersions(count: number, onDeleted: (version: string) => void): Promise<void> {
    const { name, version } = this.#identity;
    const rows = (await this.connection.client.workers.list()).filter((worker) => worker.name === name);
    const uploaded = rows.find(({ source }) => source === "uploaded");
    if (!uploaded) return;
    const staying = new Set([version, answeringVersion(installedVersions(rows))?.version]);
    const others = newestFirst(uploaded).filter((other) => !staying.has(other));
    const room = Math.max(0, count - uploaded.versions.filter((other) => staying.has(other)).length);
    for (const old of others.slice(room).toReversed()) {
      await this.connection.client.workers.removeVersion({ params: { ...toPathSegments(name), version: old } });
      onDeleted(old);
    }
  }
}

/** Returns versions sorted by deployment time, newest first. Versions without a deployment record come last, the highest version first. */
function newestFirst({ versions, deploys = {} }: Worker): string[] {
  return versions.toSorted((a, b) => (deploys[b]?.at ?? 0) - (deploys[a]?.at ?? 0));
}
