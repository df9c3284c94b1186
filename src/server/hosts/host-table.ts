import { automaticLabel, targetOfLabel } from "../../shared/automatic-host.js";
import type { Host, RequestedHost } from "../../shared/contract/hosts.js";
import { hostNameOf, isHost } from "../../shared/host.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordStore, StoredRecord } from "../storage/record-store.js";
import type { HostTarget } from "../web/http-exchange.js";

/** Maximum number of cached Host headers. Clients choose these headers, so the limit bounds the memory. */
const maximumKnownHeaders = 4096;
const recordKind = "host";
/** Target of an automatic host name below the app domain that belongs to no worker. */
const noWorker: HostTarget = { name: "", range: undefined };

interface HostTableOptions {
  readonly records: RecordStore;
  readonly config: {
    readonly appDomain: string | undefined;
    readonly ownHostNames: ReadonlySet<string>;
  };
}

interface Entry {
  readonly host: Host;
  readonly target: HostTarget;
  readonly revision: number;
}

/** The host names of workers, in memory: the host names that operators have added, and the automatic host names below the app domain. */
export class HostTable {
  readonly #records: RecordStore;
  readonly #config: HostTableOptions["config"];
  readonly #entries = new Map<string, Entry>();
  /** Cached targets by the received text of the Host header. Null if the host name belongs to the daemon itself. */
  readonly #known = new Map<string, HostTarget | null>();
  /** Host names that the manifests of active versions request, by worker name. */
  readonly #requested = new Map<string, readonly string[]>();
  readonly #stopFollowing: () => void;

  constructor({ records, config }: HostTableOptions) {
    this.#records = records;
    this.#config = config;
    this.#stopFollowing = records.onChange((changed) => this.#apply(changed));
    this.#apply("all");
  }

  /**
   * Returns the worker for a Host header. Returns undefined for a host name of the daemon itself. At such a host name, the path selects the
   * worker.
   */
  find(header: string | undefined): HostTarget | undefined {
    if (header === undefined || (this.#entries.size === 0 && this.#config.appDomain === undefined)) return undefined;
    const known = this.#known.get(header);
    if (known !== undefined) return known ?? undefined;
    const target = isHost(header) ? this.#targetOf(hostNameOf(header)) : undefined;
    if (this.#known.size >= maximumKnownHeaders) this.#known.clear();
    this.#known.set(header, target ?? null);
    return target;
  }

  /** Returns the added hosts, sorted by host name. */
  list(): Host[] {
    return [...this.#entries.values()].map(({ host }) => host).toSorted((one, other) => (one.host < other.host ? -1 : 1));
  }

  get(name: string): Host | undefined {
    return this.#entries.get(name)?.host;
  }

  /** Records the host names that the manifest of a worker's active version requests. */
  noteRequested(worker: string, hosts: readonly string[]): void {
    if (hosts.length === 0) this.#requested.delete(worker);
    else this.#requested.set(worker, hosts);
  }

  /** Returns the host names that a worker's manifest requests, but that no operator has added for this worker. */
  listRequested(): RequestedHost[] {
    return [...this.#requested].flatMap(([worker, hosts]) =>
      hosts.filter((host) => this.get(host)?.worker !== worker).map((host) => ({ host, worker })),
    );
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the reason why an operator cannot add this host name. Returns undefined if a worker can have the host name. */
  reservedReason(name: string): string | undefined {
    if (this.#config.ownHostNames.has(name)) return `${name} is a host name of the daemon itself. Choose another host name.`;
    if (!this.isAutomatic(name)) return undefined;
    return `${name} is an automatic host name below RUNTIME_APP_DOMAIN. Choose a host name outside that domain.`;
  }

  /** Returns whether a host name is below the app domain. Host names below the app domain are automatic. */
  isAutomatic(name: string): boolean {
    return this.#labelOf(name) !== undefined;
  }

  /** Returns worker and version for an automatic host name, or undefined for other names. */
  automaticTarget(name: string): HostTarget | undefined {
    const label = this.#labelOf(name);
    const target = label === undefined ? undefined : targetOfLabel(label);
    return target && { name: target.name, range: target.version };
  }

  /**
   * Returns the automatic host name of a worker. Returns undefined if no app domain is configured, or if the worker's name cannot be a host
   * name.
   */
  automaticHost(worker: string): string | undefined {
    const automatic = automaticLabel(worker);
    return this.#config.appDomain !== undefined && "label" in automatic ? `${automatic.label}.${this.#config.appDomain}` : undefined;
  }

  /** Stores a host. If another client changed the host meanwhile, changes nothing and returns false. */
  async put(host: Host): Promise<boolean> {
    const { host: key } = host;
    return this.#transact(key, JSON.stringify(host));
  }

  /** Removes a host. If another client changed the host meanwhile, changes nothing and returns false. */
  async remove(name: string): Promise<boolean> {
    return this.#transact(name, undefined);
  }

  close(): void {
    this.#stopFollowing();
  }

  async #transact(key: string, value: string | undefined): Promise<boolean> {
    const ifRevision = this.#entries.get(key)?.revision ?? 0;
    const stored = await this.#records.transact([{ kind: recordKind, key, value, ifRevision }]);
    return stored !== undefined;
  }

  #apply(changed: readonly StoredRecord[] | "all"): void {
    if (changed === "all") this.#entries.clear();
    const hosts = changedOfKind(changed, recordKind, this.#records);
    for (const { key, value, revision } of hosts) {
      if (value === undefined) this.#entries.delete(key);
      else {
        const host = JSON.parse(value) as Host;
        this.#entries.set(key, { host, target: { name: host.worker, range: host.version }, revision });
      }
    }
    if (changed === "all" || hosts.length > 0) this.#known.clear();
  }

  #targetOf(name: string): HostTarget | undefined {
    if (this.#config.ownHostNames.has(name)) return undefined;
    const entry = this.#entries.get(name);
    if (entry) return entry.target;
    return this.isAutomatic(name) ? (this.automaticTarget(name) ?? noWorker) : undefined;
  }

  #labelOf(name: string): string | undefined {
    const { appDomain } = this.#config;
    return appDomain !== undefined && name.endsWith(`.${appDomain}`) ? name.slice(0, -appDomain.length - 1) : undefined;
  }
}
