import { automaticLabel, targetOfLabel } from "../../shared/automatic-host.js";
import type { Host, RequestedHost } from "../../shared/contract/hosts.js";
import { hostNameOf, isHost } from "../../shared/host.js";
import type { RecordStore } from "../storage/record-store.js";
import type { HostTarget } from "../web/http-exchange.js";

/** Spellings of Host headers whose target the table remembers; clients choose them, so their number has a limit. */
const maximumKnownHeaders = 4096;
const recordKind = "host";
/** The target of a host below the app domain that no worker can have: no worker has this name. */
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

/** The host names that lead to workers, in memory: those that operators added, and the automatic ones below the app domain. */
export class HostTable {
  readonly #records: RecordStore;
  readonly #config: HostTableOptions["config"];
  readonly #entries = new Map<string, Entry>();
  /** The target by Host header as clients spell it; null for the daemon's own hosts. */
  readonly #known = new Map<string, HostTarget | null>();
  /** What manifests of active versions ask for, by worker. */
  readonly #requested = new Map<string, readonly string[]>();
  readonly #stopFollowing: () => void;

  constructor({ records, config }: HostTableOptions) {
    this.#records = records;
    this.#config = config;
    this.#stopFollowing = records.onChange(() => this.#refresh());
    this.#refresh();
  }

  /** The worker that a Host header leads to; undefined at the daemon's own hosts, where the path names the worker. */
  find(header: string | undefined): HostTarget | undefined {
    if (header === undefined || (this.#entries.size === 0 && this.#config.appDomain === undefined)) return undefined;
    const known = this.#known.get(header);
    if (known !== undefined) return known ?? undefined;
    const target = isHost(header) ? this.#targetOf(hostNameOf(header)) : undefined;
    if (this.#known.size >= maximumKnownHeaders) this.#known.clear();
    this.#known.set(header, target ?? null);
    return target;
  }

  /** In the order of their names. */
  list(): Host[] {
    return [...this.#entries.values()].map(({ host }) => host).toSorted((one, other) => (one.host < other.host ? -1 : 1));
  }

  get(name: string): Host | undefined {
    return this.#entries.get(name)?.host;
  }

  /** Notes the hosts that the manifest of a worker's active version asks for. */
  noteRequested(worker: string, hosts: readonly string[]): void {
    if (hosts.length === 0) this.#requested.delete(worker);
    else this.#requested.set(worker, hosts);
  }

  /** The hosts that manifests ask for and that no operator has added for the worker. */
  listRequested(): RequestedHost[] {
    return [...this.#requested].flatMap(([worker, hosts]) =>
      hosts.filter((host) => this.get(host)?.worker !== worker).map((host) => ({ host, worker })),
    );
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether the name lies below the app domain, where the names of workers are fixed. */
  isAutomatic(name: string): boolean {
    return this.#labelOf(name) !== undefined;
  }

  /** The worker and version that an automatic host name means; undefined when the name is not an automatic one. */
  automaticTarget(name: string): HostTarget | undefined {
    const label = this.#labelOf(name);
    const target = label === undefined ? undefined : targetOfLabel(label);
    return target && { name: target.name, range: target.version };
  }

  /** The automatic host name of a worker; undefined without an app domain, or when the worker has none. */
  automaticHost(worker: string): string | undefined {
    const automatic = automaticLabel(worker);
    return this.#config.appDomain !== undefined && "label" in automatic ? `${automatic.label}.${this.#config.appDomain}` : undefined;
  }

  /** Stores a host. False, and nothing changed, when the host was added, changed or removed meanwhile. */
  async put(host: Host): Promise<boolean> {
    const { host: key } = host;
    return this.#transact(key, JSON.stringify(host));
  }

  /** False, and nothing changed, when the host was added, changed or removed meanwhile. */
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

  /** Reads all records: a primary that was set back to an older state can have lost some. */
  #refresh(): void {
    this.#entries.clear();
    for (const { kind, value, revision } of this.#records.fetchSince(0)) {
      if (kind !== recordKind || value === undefined) continue;
      const host = JSON.parse(value) as Host;
      this.#entries.set(host.host, { host, target: { name: host.worker, range: host.version }, revision });
    }
    this.#known.clear();
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
