import { copyFile, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import type { ArchiveLimits } from "../../../src/server/packages/archive/archive-entry.js";
import { directoryStore } from "../../../src/server/packages/directory-store.js";
import { PackageTools } from "../../../src/server/packages/package-tools.js";
import { WorkerPackages } from "../../../src/server/packages/worker-packages.js";
import type { WorkerPackagesOptions } from "../../../src/server/packages/worker-packages-options.js";

export interface Retirement {
  readonly folder: string;
  readonly movedTo: string | undefined;
}

/** Installed packages in temporary directories. `close` deletes the directories. */
export interface PackagesFixture {
  readonly root: string;
  readonly uploads: string;
  readonly builtIn: string;
  readonly retirements: Retirement[];
  readonly options: WorkerPackagesOptions;
  packages: WorkerPackages;
  /** Closes the packages and opens them again in the same directories, as a restart of the daemon does. */
  reopen(): Promise<void>;
  /** Installs an archive, given as a path or as bytes. */
  install(archive: string | Buffer, filename?: string): Promise<{ name: string; version: string; installedAt: string }>;
  close(): Promise<void>;
}

export const silentLog = pino({ level: "silent" });

const usualLimits: ArchiveLimits = { maxExpandedSizeBytes: 1024 ** 3, maxArchiveEntries: 50_000 };

export async function openPackages({ limits = usualLimits }: { limits?: ArchiveLimits } = {}): Promise<PackagesFixture> {
  const root = await mkdtemp(path.join(tmpdir(), "packages-"));
  const uploads = path.join(root, "workers");
  const builtIn = path.join(root, "builtin");
  await mkdir(uploads);
  await mkdir(builtIn);
  const retirements: Retirement[] = [];
  const options: WorkerPackagesOptions = {
    directories: [uploads],
    builtInDirectory: builtIn,
    reservedNames: new Set(["api", "cpanel"]),
    tools: new PackageTools(limits),
    store: directoryStore,
    log: silentLog,
    retire: async (folder, movedTo) => void retirements.push({ folder, movedTo }),
  };
  let spooled = 0;
  const closeAll = async () => {
    options.tools.stopUnpacking();
    await fixture.packages.close();
    await options.tools.close();
  };
  const fixture: PackagesFixture = {
    root,
    uploads,
    builtIn,
    retirements,
    options,
    packages: await WorkerPackages.open(options),
    async reopen() {
      await closeAll();
      Object.assign(options, { tools: new PackageTools(limits) });
      fixture.packages = await WorkerPackages.open(options);
    },
    async install(archive, filename = "package.tgz") {
      spooled += 1;
      const spool = path.join(root, `spool-${spooled}`);
      // Installs a copy of the archive, because an installation moves its file.
      await (typeof archive === "string" ? copyFile(archive, spool) : writeFile(spool, archive));
      const file = { path: spool, filename, sizeBytes: (await stat(spool)).size };
      return await fixture.packages.install(file, { authorise: () => undefined }).finally(() => rm(spool, { force: true }));
    },
    async close() {
      await closeAll();
      await rm(root, { recursive: true, force: true });
    },
  };
  return fixture;
}
