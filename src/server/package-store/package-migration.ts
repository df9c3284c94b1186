import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { ErrorCode } from "../../shared/errors.js";
import { installationFileName } from "../../shared/installation-file-name.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { PackageTools } from "../packages/package-tools.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import type { StagingArea } from "../packages/transactions/staging-area.js";
import { inTransaction } from "../packages/transactions/transaction.js";
import type { ArchiveStore } from "./archive-store.js";
import type { LocalPackage } from "./local-packages.js";
import type { OciPackageStore, PackedVersion } from "./oci-package-store.js";
import type { OciPluginStore } from "./oci-plugin-store.js";
import { publishFolder } from "./package-edit.js";

/** Number of versions that one transaction adds to the index. */
const mostAtOnce = 100;
/** Codes of errors of the registry, the index and the disk. These errors concern all packages, so they end the migration. */
const outages = [
  "PACKAGE_STORE_UNAVAILABLE",
  "KEY_STORE_UNAVAILABLE",
  "INDEX_DIVERGED",
  "CHANGE_CONFLICT",
  "INSUFFICIENT_STORAGE",
  "STORAGE_NOT_WRITABLE",
] as const satisfies readonly ErrorCode[];

export type Outage = (typeof outages)[number];

/** Returns the code of an error that ends a migration. Undefined for an error of one package. */
export function outageOf(error: unknown): Outage | undefined {
  return error instanceof ApiError ? outages.find((code) => code === error.code) : undefined;
}

interface PackageMigrationOptions {
  readonly versions: OciPackageStore;
  readonly plugins: OciPluginStore;
  readonly archives: ArchiveStore;
  readonly tools: PackageTools;
}

/** Result for the packages of one directory. Each package is in one of the lists. */
export interface Migrated {
  readonly moved: readonly LocalPackage[];
  /** Packages that the store already had, for example after an interrupted migration. */
  readonly present: readonly LocalPackage[];
  /** Packages that only this machine has, with the reasons. */
  readonly local: readonly LocalPackage[];
}

interface PackedPackage extends PackedVersion {
  readonly found: LocalPackage;
}

/** The rows of the index for one kind of package. */
interface Rows {
  readonly find: (found: LocalPackage) => Pick<PackedVersion["archive"], "digest"> | undefined;
  readonly isDeleted: (found: LocalPackage) => boolean;
  /** Throws if the package cannot be in the store. */
  readonly assertAccepted: (metadata: PackageMetadata) => void;
  /** Adds the packages that the index does not have. */
  readonly add: (packages: readonly PackedPackage[]) => Promise<void>;
}

/**
 * Moves the packages on the disk of a machine into a package store. The folders stay and become the downloaded files of this machine. An
 * interruption leaves no incomplete package, so a second call continues the migration.
 */
export class PackageMigration {
  readonly #options: PackageMigrationOptions;

  constructor(options: PackageMigrationOptions) {
    this.#options = options;
  }

  async moveVersions(area: StagingArea, found: readonly LocalPackage[]): Promise<Migrated> {
    const { versions } = this.#options;
    return await this.#move(area, found, {
      find: (each) => versions.find(each),
      isDeleted: (each) => versions.isDeleted(each),
      assertAccepted: (metadata) => versions.assertAccepted(metadata),
      add: (packages) => versions.add(packages),
    });
  }

  async movePlugins(area: StagingArea, found: readonly LocalPackage[]): Promise<Migrated> {
    const { plugins } = this.#options;
    return await this.#move(area, found, {
      find: ({ name }) => plugins.find(name),
      isDeleted: ({ name }) => plugins.deletedNames().has(name),
      assertAccepted: () => undefined,
      add: async (packages) => {
        for (const { metadata, archive } of packages) if (!plugins.find(metadata.name)) await plugins.publish(metadata, archive, null);
      },
    });
  }

  async #move(area: StagingArea, found: readonly LocalPackage[], rows: Rows): Promise<Migrated> {
    const moved: LocalPackage[] = [];
    const present: LocalPackage[] = [];
    const local: LocalPackage[] = [];
    const packed: PackedPackage[] = [];
    const finish = async () => {
      await rows.add(packed);
      for (const { found: each, archive } of packed.splice(0)) {
        if (rows.find(each)?.digest === archive.digest) {
          await this.#writeDigest(area, each, archive.digest);
          moved.push(each);
        } else local.push({ ...each, problem: "the package store has other files of this package" });
      }
    };
    for (const each of found) {
      if (each.problem !== undefined) local.push(each);
      else if (await this.#isPresent(each, rows)) present.push(each);
      else {
        const result = await this.#pack(area, each, rows);
        if ("archive" in result) packed.push(result);
        else local.push(result);
      }
      if (packed.length === mostAtOnce) await finish();
    }
    await finish();
    return { moved, present, local };
  }

  /**
   * Returns whether the folder came from the store, even if the folder is outdated or the store has deleted the package. The next start of
   * the daemon replaces or deletes such a folder.
   */
  async #isPresent(found: LocalPackage, rows: Rows): Promise<boolean> {
    const digest = digestOfFolder(found.folder);
    if (digest === undefined) return false;
    const row = rows.find(found);
    return row ? row.digest !== digest || (await this.#options.archives.has(digest)) : rows.isDeleted(found);
  }

  /** Packs, checks and sends a package. If the package cannot be in the store, returns the package with the error message in `problem`. */
  async #pack(area: StagingArea, found: LocalPackage, rows: Rows): Promise<PackedPackage | LocalPackage> {
    const { archives, tools } = this.#options;
    const { name, version, folder, installation } = found;
    const assertAccepted = (metadata: PackageMetadata) => {
      if (metadata.name !== name || metadata.version !== version)
        throw new ApiError("INVALID_PACKAGE_METADATA", `Its archive contains ${metadata.name} ${metadata.version}.`);
      rows.assertAccepted(metadata);
    };
    try {
      return await inTransaction(area, async (staged) => {
        const staging = path.dirname(await staged.makeContentFolder());
        const packed = await publishFolder({ archives, tools, folder, staging, assertAccepted }, (archive, metadata) =>
          Promise.resolve({ found, installation, archive, metadata }),
        );
        await staged.discard();
        return packed;
      });
    } catch (error) {
      if (!(error instanceof ApiError) || outageOf(error) !== undefined) throw error;
      return { ...found, problem: error.message };
    }
  }

  /** Records that the folder has the files of the archive. The daemon then does not download them. */
  async #writeDigest(area: StagingArea, { folder, installation }: LocalPackage, digest: string): Promise<void> {
    const file = path.join(folder, installationFileName);
    await inTransaction(area, async (staged) => {
      await area.exclusively(() => staged.writeFile(file, `${JSON.stringify({ ...installation, digest })}\n`));
      await staged.discard();
    });
  }
}
