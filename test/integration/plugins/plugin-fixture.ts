import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import pino from "pino";
import { onTestFinished } from "vitest";
import type { InstalledPlugin } from "../../../src/server/packages/plugin-catalog.js";
import type { PluginCode as PluginCodeClass } from "../../../src/server/plugins/plugin-code.js";
import { Plugins } from "../../../src/server/plugins/plugins.js";
import { packageRoot } from "../../../src/server/package-root.js";
import { PluginManifest } from "../../../src/shared/plugin-manifest.js";
import { WorkerManifest } from "../../../src/shared/worker-manifest.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

interface AddedPlugin {
  readonly manifest?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly enabled?: boolean;
  readonly problem?: string;
}

/** Plugins in temporary folders, loaded as the daemon loads them. The plugins record events in `globalThis.told`, in order. */
export class PluginFixture {
  readonly directory: string;
  readonly plugins: Plugins;
  readonly log: Record<string, unknown>[] = [];
  readonly gone: string[] = [];
  readonly #installed = new Map<string, InstalledPlugin>();

  static async open(): Promise<PluginFixture> {
    const directory = await temporaryDirectory();
    const { PluginCode } = (await import(path.join(packageRoot, "build/server/plugins/plugin-code.js"))) as {
      PluginCode: typeof PluginCodeClass;
    };
    const code = new PluginCode({ directory: path.join(directory, "code"), packageRoot });
    await code.open();
    const fixture = new PluginFixture(directory, code);
    onTestFinished(() => fixture.plugins.close());
    told().length = 0;
    return fixture;
  }

  private constructor(directory: string, code: PluginCodeClass) {
    this.directory = directory;
    this.plugins = new Plugins({
      discover: () => [...this.#installed.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      code,
      reserved: new Set(["api", "_", "cpanel", ".well-known"]),
      onGone: (name) => this.gone.push(name),
      onReplaced: () => undefined,
      onAppGone: () => undefined,
      apiBase: "/api",
      version: "1.2.3",
      verify: () => undefined,
      counter: () => ({ add: () => undefined }),
      log: pino({ level: "debug" }, { write: (line: string) => void this.log.push(JSON.parse(line) as Record<string, unknown>) }),
    });
  }

  /** Adds or replaces a plugin. `code` is the text of plugin.js, or an object with all files. */
  async add(name: string, code: string | Record<string, string>, { manifest = {}, ...rest }: AddedPlugin = {}): Promise<void> {
    const folder = path.join(this.directory, name);
    await rm(folder, { recursive: true, force: true });
    await writeTree(folder, typeof code === "string" ? { "plugin.js": code } : code);
    const parsed = PluginManifest.parse(manifest);
    this.#installed.set(name, {
      name,
      version: "1.0.0",
      folder,
      path: folder,
      source: "uploaded",
      removable: true,
      enabled: true,
      manifest: parsed,
      app: parsed.entrypoint === undefined ? undefined : WorkerManifest.parse(manifest),
      config: {},
      manifestHash: createHash("sha256")
        .update(JSON.stringify([manifest, rest.config]))
        .digest("hex"),
      ...rest,
    });
  }

  change(name: string, change: Partial<InstalledPlugin>): void {
    this.#installed.set(name, { ...(this.#installed.get(name) as InstalledPlugin), ...change });
  }

  remove(name: string): void {
    this.#installed.delete(name);
  }

  async load({ fresh = false } = {}): Promise<Record<string, string | true | undefined>> {
    const report = await this.plugins.reload({ isFresh: () => fresh });
    return Object.fromEntries(report.map(({ name, loaded, error }) => [name, loaded || error]));
  }

  get names(): string[] {
    return this.plugins.set.plugins.map(({ name }) => name);
  }
}

/** Events that the plugins of a test recorded. */
export function told(): string[] {
  const place = globalThis as { told?: string[] };
  return (place.told ??= []);
}
