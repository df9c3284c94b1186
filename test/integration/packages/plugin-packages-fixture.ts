import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PackageTools } from "../../../src/server/packages/package-tools.js";
import type { PluginPackagesOptions } from "../../../src/server/packages/plugin-packages-options.js";
import { PluginPackages } from "../../../src/server/packages/plugin-packages.js";
import { packFiles } from "../../support/pack-files.js";
import { silentLog, type Retirement } from "./packages-fixture.js";

type Files = Readonly<Record<string, string>>;

/** Installed plugins in temporary directories. `close` deletes the directories. */
export interface PluginPackagesFixture {
  readonly root: string;
  readonly uploads: string;
  readonly builtIn: string;
  readonly retirements: Retirement[];
  readonly options: PluginPackagesOptions;
  packages: PluginPackages;
  /** Closes the packages and opens them again in the same directories, as a restart of the daemon does. */
  reopen(): Promise<void>;
  /** Packs files (path → content) and installs them, or installs an archive given as bytes. */
  install(content: Files | Buffer, authorise?: (name: string) => void): Promise<{ name: string; version: string; installedAt: string }>;
  close(): Promise<void>;
}

export async function openPluginPackages(): Promise<PluginPackagesFixture> {
  const root = await mkdtemp(path.join(tmpdir(), "plugin-packages-"));
  const uploads = path.join(root, "plugins");
  const builtIn = path.join(root, "builtin");
  await mkdir(uploads);
  await mkdir(builtIn);
  const retirements: Retirement[] = [];
  const tools = new PackageTools({ maxExpandedSizeBytes: 1024 ** 3, maxArchiveEntries: 50_000 });
  const options: PluginPackagesOptions = {
    directories: [uploads],
    builtInDirectory: builtIn,
    reservedNames: new Set(["api", "cpanel", "_"]),
    tools,
    log: silentLog,
    refusal: (app) => (app.permissions.length > 0 ? "Permissions are not given here." : undefined),
    retire: async (folder, movedTo) => void retirements.push({ folder, movedTo }),
  };
  let spooled = 0;
  const fixture: PluginPackagesFixture = {
    root,
    uploads,
    builtIn,
    retirements,
    options,
    packages: await PluginPackages.open(options),
    async reopen() {
      await fixture.packages.close();
      fixture.packages = await PluginPackages.open(options);
    },
    async install(content, authorise = () => undefined) {
      const archive = Buffer.isBuffer(content) ? content : await packFiles(content);
      spooled += 1;
      const spool = path.join(root, `spool-${spooled}`);
      await writeFile(spool, archive);
      const file = { path: spool, filename: "plugin.tgz", sizeBytes: archive.length };
      return await fixture.packages.install(file, authorise).finally(() => rm(spool, { force: true }));
    },
    async close() {
      tools.stopUnpacking();
      await fixture.packages.close();
      await tools.close();
      await rm(root, { recursive: true, force: true });
    },
  };
  return fixture;
}
