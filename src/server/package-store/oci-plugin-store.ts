import * as z from "zod";
import { isPackageName } from "../../shared/package-name.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { Log } from "../log/log.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import type { ArchiveCollector } from "./archive-collector.js";
import type { PathClaims } from "./path-claims.js";
import type { StoredArchive } from "./archive-store.js";
import { changedMeanwhile, IndexWriter } from "./index-writer.js";

/** Kind of the records that contain plugins. The key of a record is the name of the plugin. */
const pluginKind = "plugin";

/** The JSON value of a record. Newer daemons can add fields, so unknown fields are accepted. */
const PluginValue = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  sizeBytes: z.int().min(1),
  format: z.enum(["tar", "zip"]),
  enabled: z.boolean(),
});

/** A plugin in the index, with the revision of its record. */
export interface PluginRow extends StoredArchive {
  readonly name: string;
  readonly enabled: boolean;
  readonly revision: number;
}

/** A change of one plugin in the index. */
export interface PluginChange {
  readonly name: string;
  readonly type: "plugin.installed" | "plugin.enabled" | "plugin.disabled" | "plugin.deleted";
  /** True if another daemon made the change. */
  readonly isElsewhere: boolean;
}

type PluginMetadata = Pick<PackageMetadata, "name" | "enabled" | "fields">;

interface OciPluginStoreOptions {
  readonly records: RecordStore;
  readonly collector: ArchiveCollector;
  readonly claims: PathClaims;
  readonly log: Log;
}

/** The plugins that several daemons share, as records beside the keys. */
export class OciPluginStore {
  readonly #writer: IndexWriter;
  readonly #options: OciPluginStoreOptions;
  readonly #rows = new Map<string, PluginRow>();
  /** Plugins that a daemon has deleted. If the index is lost or empty, this set is empty too, so the daemon deletes no folders. */
  readonly #deleted = new Set<string>();
  readonly #listeners = new Set<(changes: readonly PluginChange[], isAccepted: boolean) => void>();
  readonly #stopFollowing: () => void;

  constructor(options: OciPluginStoreOptions) {
    const { records } = options;
    this.#options = options;
    this.#writer = new IndexWriter(records);
    this.#stopFollowing = records.onChange((changed, isAccepted) => this.#apply(changed, isAccepted));
    this.#apply("all", false);
  }

  rows(): readonly PluginRow[] {
    return [...this.#rows.values()];
  }

  find(name: string): PluginRow | undefined {
    return this.#rows.get(name);
  }

  /** Returns the names of the plugins that a daemon deleted. */
  deletedNames(): ReadonlySet<string> {
    return this.#deleted;
  }

  /**
   * Calls `listener` after changes of this and of other daemons. `isAccepted`: an operator has given up the plugins that the index lacks.
   */
  follow(listener: (changes: readonly PluginChange[], isAccepted: boolean) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#stopFollowing();
  }

  /**
   * Writes the row of a plugin. Throws PRECONDITION_FAILED if the row has changed since `base` was read, or if `base` is null and the index
   * contains the plugin. If `base` is undefined, replaces any row.
   */
  async publish({ name, enabled, fields }: PluginMetadata, archive: StoredArchive, base?: PluginRow | null): Promise<void> {
    const { collector, claims } = this.#options;
    const { base: path } = fields;
    await this.#writer.transact(() => {
      const before = this.find(name);
      if (base !== undefined && before?.revision !== base?.revision) throw changedMeanwhile(name);
      return [
        this.#changeOf(name, { ...archive, enabled }),
        ...(typeof path === "string" ? [claims.claim(path, "plugin", name)] : []),
        ...claims.release("plugin", name, typeof path === "string" ? path : undefined),
        ...collector.changesFor(archive.digest, before ? [before.digest] : []),
      ];
    });
  }

  /** Ignores a plugin that only this daemon has. */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#writer.transact(() => {
      const row = this.find(name);
      return row ? [this.#changeOf(name, { ...row, enabled })] : [];
    });
  }

  /** Ignores a plugin that only this daemon has. */
  async remove(name: string): Promise<void> {
    const { collector, claims } = this.#options;
    await this.#writer.transact(() => {
      const row = this.find(name);
      if (!row) return [];
      return [this.#changeOf(name, undefined), ...claims.release("plugin", name), ...collector.changesFor(undefined, [row.digest])];
    });
  }

  #changeOf(key: string, value: z.output<typeof PluginValue> | undefined): RecordChange {
    const text = value && JSON.stringify(PluginValue.parse(value));
    return { kind: pluginKind, key, value: text, ifRevision: this.find(key)?.revision ?? 0 };
  }

  #apply(changed: readonly StoredRecord[] | "all", isAccepted: boolean): void {
    const records = changedOfKind(changed, pluginKind, this.#options.records);
    const changes: PluginChange[] = [];
    if (changed === "all") {
      const names = new Set(records.filter(({ value }) => value !== undefined).map(({ key }) => key));
      const missing = [...this.#rows.keys()].filter((name) => !names.has(name));
      for (const name of missing) this.#rows.delete(name);
      if (isAccepted) changes.push(...missing.map((name) => ({ name, type: "plugin.deleted" as const, isElsewhere: true })));
      this.#deleted.clear();
    }
    for (const record of records) {
      const type = this.#applyRow(record);
      if (type) changes.push({ name: record.key, type, isElsewhere: this.#writer.isElsewhere(record) });
    }
    if (changes.length > 0 || isAccepted) for (const listener of this.#listeners) listener(changes, isAccepted);
  }

  #applyRow({ key: name, value, revision }: StoredRecord): PluginChange["type"] | undefined {
    const before = this.#rows.get(name);
    if (value === undefined) {
      this.#deleted.add(name);
      return this.#rows.delete(name) ? "plugin.deleted" : undefined;
    }
    this.#deleted.delete(name);
    let row: PluginRow;
    try {
      // Checks the name, because the daemon uses the name as a folder name.
      if (!isPackageName(name)) throw new Error("the key is not a package name");
      row = { name, ...PluginValue.parse(JSON.parse(value)), revision };
    } catch (error) {
      this.#options.log.error(
        { err: error, name },
        "a plugin in the index cannot be read, so this daemon keeps the previous state of the plugin",
      );
      return undefined;
    }
    this.#rows.set(name, row);
    if (before?.digest !== row.digest) return "plugin.installed";
    if (before.enabled === row.enabled) return undefined;
    return row.enabled ? "plugin.enabled" : "plugin.disabled";
  }
}
