import { rm } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { copyPackages } from "../../support/copy-packages.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, type Run } from "./shell-session.js";

/** A daemon and a shell in which `runtimectl` bundles and uploads workers. */
export class BundleSession {
  readonly #daemon: TestDaemon;
  readonly #shell: ShellSession;

  private constructor(daemon: TestDaemon, shell: ShellSession) {
    this.#daemon = daemon;
    this.#shell = shell;
  }

  static async open(environment: Record<string, string> = {}): Promise<BundleSession> {
    const [daemon, shell] = await Promise.all([startDaemon({ env: environment }), ShellSession.open()]);
    return new BundleSession(daemon, shell);
  }

  get home(): string {
    return this.#shell.home;
  }

  run(words: string): Promise<Run> {
    return this.#shell.run(words, { env: { RUNTIMECTL_URL: this.#daemon.url, RUNTIMECTL_KEY: this.#daemon.rootKey } });
  }

  /** Writes the folder of a worker in the session's home, and copies installed packages with their dependencies into it. */
  async folder(name: string, files: Readonly<Record<string, string | Uint8Array>>, packages: readonly string[] = []): Promise<string> {
    const folder = path.join(this.home, name);
    await rm(folder, { recursive: true, force: true });
    await writeTree(folder, { "manifest.yaml": `name: ${path.basename(name)}\nentrypoint: index.ts\n`, ...files });
    await copyPackages(packages, folder);
    return folder;
  }

  /** Uploads a folder with `--bundle`, and returns the response of the worker. Fails the test for any warning. */
  async response(name: string, options = ""): Promise<string> {
    const run = await this.run(`workers upload ${name} --bundle ${options}`.trim());
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).not.toContain("warning:");
    return (await fetch(`${this.#daemon.url}/${path.basename(name)}/`)).text();
  }

  /** Returns the paths of the packed files. */
  async packedFiles(name: string, options = ""): Promise<string[]> {
    const run = await this.run(`workers upload ${name} --bundle --dry-run --json ${options}`.trim());
    expect(run.status, run.stderr).toBe(0);
    return (JSON.parse(run.stdout) as { files: { path: string }[] }).files.map((file) => file.path);
  }

  async close(): Promise<void> {
    await Promise.all([this.#daemon.dispose(), this.#shell.close()]);
  }
}
