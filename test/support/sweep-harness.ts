import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "./connect.js";
import { entriesOf } from "./entries-of.js";
import { manifestOf, packFiles } from "./pack-files.js";
import type { TestDaemon } from "./start-daemon.js";
import { treeDigest } from "./tree-digest.js";

export const sweptVersion = "1.0.0";

/** A daemon and the app that a sweep changes. Tests start the next daemon on the files of the previous one. */
export class SweepHarness {
  readonly directory: string;
  readonly daemon: TestDaemon;
  readonly client: Client;
  readonly #digests: Map<string, string>;

  constructor(directory: string, daemon: TestDaemon, digests: Map<string, string>) {
    this.directory = directory;
    this.daemon = daemon;
    this.client = connect(daemon.url, daemon.rootKey);
    this.#digests = digests;
  }

  async upload(marker: string): Promise<void> {
    await this.client.workers.upload({ file: uploadOf("app.tgz", await archiveOf(marker)) });
  }

  /** Uploads this marker and stores the digest of its files. */
  async learn(marker: string): Promise<void> {
    await this.upload(marker);
    this.#digests.set(await treeDigest(this.#appFolder), marker);
  }

  async remove(): Promise<void> {
    const workers = await this.client.workers.list();
    if (workers.some(({ name }) => name === "app")) await this.client.workers.remove({ params: { scope: "_", name: "app" } });
  }

  /** Returns the marker of the installed files on disk and over HTTP, or "missing". */
  async installed(): Promise<string> {
    const digest = await treeDigest(this.#appFolder);
    const marker = digest === "missing" ? "missing" : (this.#digests.get(digest) ?? `a mixture: ${digest}`);
    const answer = await fetch(`${this.daemon.url}/app/`);
    const served = answer.status === 404 ? "missing" : await answer.text();
    return served === marker ? marker : `${marker} on disk, and ${served} served`;
  }

  get #appFolder(): string {
    return path.join(this.directory, "workers", "app");
  }

  async enabled(): Promise<string> {
    const app = (await this.client.workers.list()).find(({ name }) => name === "app");
    return app?.disabledVersions.length === 0 ? "enabled" : "disabled";
  }

  async keyNames(): Promise<string[]> {
    return (await this.client.keys.list()).keys.map(({ name }) => name);
  }

  async revokeAll(): Promise<void> {
    for (const { id } of (await this.client.keys.list()).keys) await this.client.keys.revoke({ params: { id: String(id) } });
  }
}

async function archiveOf(marker: string): Promise<Buffer> {
  return await packFiles({
    "manifest.yaml": manifestOf("app", sweptVersion),
    "index.html": marker,
    "lib/a.txt": marker,
    "lib/deep/b.txt": marker,
  });
}

/** Waits until the leftovers of the attempt are deleted, or until `isHopeless` returns true. */
export async function settled(directory: string, isHopeless = () => false): Promise<void> {
  const leftovers = async () => {
    if (isHopeless()) return [];
    const names = [...entriesOf(path.join(directory, "workers")), ...(await readdir(path.join(directory, "state", "spool")))];
    return names.filter((name) => name !== "app");
  };
  await expect.poll(leftovers).toEqual([]);
}
