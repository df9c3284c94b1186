import semver from "semver";
import { disable, enable, removeVersion, upload } from "../../shared/contract/worker-changes.js";
import { list as listHosts } from "../../shared/contract/hosts.js";
import { show } from "../../shared/contract/session.js";
import { list, type Worker } from "../../shared/contract/workers.js";
import { latestVersion, toPathSegments } from "../../shared/package-name.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import type { Context } from "../command/command.js";
import { findHosts, type WorkerHosts } from "../commands/hosts/worker-hosts.js";
import { activeUrl } from "../commands/workers/active-url.js";
import { activeVersionOf, installedVersions } from "../../shared/worker-versions.js";
import { connect, type Connection } from "../client/connection.js";
import type { PackageInfo } from "../pack/package-info.js";
import { chooseVersion, nextVersion, type ChosenVersion } from "./choose-version.js";
import type { DeployTarget, Located } from "./deploy-target.js";

const operations = { workers: { list, upload, enable, disable, removeVersion }, hosts: { list: listHosts }, session: { show } };

interface Identity {
  readonly name: string;
  readonly version: string;
}

interface OpenOptions {
  /** Whether a package without a version must get a new version number. If false, the deployment replaces an active `latest`. */
  readonly isBump: boolean;
}

/** A worker as the target of a deployment. All other versions of the worker stay installed. */
export class WorkerTarget implements DeployTarget {
  readonly #context: Context;
  readonly connection: Connection<typeof operations>;
  readonly #identity: Identity;
  readonly existing: DeployTarget["existing"];
  readonly before: string | undefined;
  readonly versionOrigin: ChosenVersion["origin"];
  readonly #rows: readonly Worker[];
  readonly #isBump: boolean;

  /** Reads the installed versions and chooses the version of the deployment. */
  static async open(context: Context, facts: PackageInfo, { isBump }: OpenOptions): Promise<WorkerTarget> {
    const connection = await connect(context, operations);
    const rows = (await connection.client.workers.list()).filter(({ name }) => name === facts.name);
    const chosen = chooseVersion(facts, installedVersions(rows), isBump);
    return new WorkerTarget(context, connection, { name: facts.name, chosen, rows, isBump });
  }

  private constructor(
    context: Context,
    connection: Connection<typeof operations>,
    { name, chosen, rows, isBump }: { name: string; chosen: ChosenVersion; rows: readonly Worker[]; isBump: boolean },
  ) {
    this.#context = context;
    this.connection = connection;
    const { version } = chosen;
    this.versionOrigin = chosen.origin;
    this.#isBump = isBump;
    this.#rows = rows;
    this.#identity = { name, version };
    const row = rows.find(({ versions, localVersions = [] }) => versions.includes(version) && !localVersions.includes(version));
    this.existing = row && { isEnabled: !row.disabledVersions.includes(version), digest: row.deploys?.[version]?.digest };
    this.before = activeVersionOf(installedVersions(rows))?.version;
  }

  get version(): string {
    return this.#identity.version;
  }

  get activeDigest(): string | undefined {
    const { before } = this;
    const row = this.#rows.find(({ versions }) => before !== undefined && versions.includes(before));
    return before === undefined || row?.localVersions?.includes(before) ? undefined : row?.deploys?.[before]?.digest;
  }

  forInstalledVersion(): WorkerTarget {
    if (this.versionOrigin !== "assigned" || this.before === undefined) return this;
    const chosen = { version: this.before, origin: this.versionOrigin };
    return new WorkerTarget(this.#context, this.connection, { name: this.#identity.name, chosen, rows: this.#rows, isBump: this.#isBump });
  }

  get loss(): string | undefined {
    const { name, version } = this.#identity;
    const isReplaced = this.#rows.some(({ versions }) => versions.includes(version));
    return isReplaced ? `the upload replaces ${name}@${version}, which cannot be restored` : undefined;
  }

  get newVersionHint(): string {
    const installed = installedVersions(this.#rows);
    const stable = installed.filter(({ version: each }) => semver.prerelease(each) === null);
    // A prerelease is not served as long as a stable version is enabled.
    const version = nextVersion(stable.length > 0 ? stable : installed);
    // As long as `latest` is enabled, it is the active version.
    return this.before === latestVersion
      ? `add --version ${version} --bump`
      : `add --version ${version}, remove the version from the manifest to have it assigned`;
  }

  get lines(): DeployTarget["lines"] {
    const { name, version } = this.#identity;
    const on = `runtimectl workers enable ${name}@${version}`;
    // As long as `latest` is enabled, it is the active version.
    const isLatestDisabled = this.#isBump && this.before === latestVersion;
    return {
      off: isLatestDisabled ? `runtimectl workers enable ${name}@${latestVersion}` : `runtimectl workers disable ${name}@${version}`,
      on,
    };
  }

  async upload(file: UploadSource, { isChecked }: { isChecked: boolean }): Promise<void> {
    const query = {
      ...(isChecked && { check: "true" as const }),
      ...(this.versionOrigin === "assigned" && { newOnly: "true" as const }),
      ...(this.#isBump && { disableLatest: "true" as const }),
    };
    await this.connection.client.workers.upload({ file, query });
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
   * Returns the host names of the worker, and those host names in `requested` that no operator has added. Undefined if the key cannot list
   * hosts.
   */
  async findHosts(requested: readonly string[]): Promise<WorkerHosts | undefined> {
    return findHosts(this.connection, { name: this.#identity.name, requested });
  }

  /**
   * Deletes the oldest uploaded versions of the worker until `count` versions remain. Never deletes the deployed version or the active
   * version.
   */
  async deleteOldVersions(count: number, onDeleted: (version: string) => void): Promise<void> {
    const { name, version } = this.#identity;
    const rows = (await this.connection.client.workers.list()).filter((worker) => worker.name === name);
    const uploaded = rows.find(({ source }) => source === "uploaded");
    if (!uploaded) return;
    const staying = new Set([version, activeVersionOf(installedVersions(rows))?.version]);
    const others = newestFirst(uploaded).filter((other) => !staying.has(other));
    const room = Math.max(0, count - uploaded.versions.filter((other) => staying.has(other)).length);
    for (const old of others.slice(room).toReversed()) {
      await this.connection.client.workers.removeVersion({ params: { ...toPathSegments(name), version: old } });
      onDeleted(old);
    }
  }
}

/**
 * Returns the versions sorted by the time of their deployment, newest first. Versions without a deployment record come last, sorted from
 * highest to lowest.
 */
function newestFirst({ versions, deploys = {} }: Worker): string[] {
  return versions.toSorted((a, b) => (deploys[b]?.at ?? 0) - (deploys[a]?.at ?? 0));
}
