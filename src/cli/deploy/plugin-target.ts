import type { UploadSource } from "../../shared/contract/endpoint.js";
import { disable, enable, list, loaded, upload, type Plugin } from "../../shared/contract/plugins.js";
import { show } from "../../shared/contract/session.js";
import type { Context } from "../command/command.js";
import { connect, type Connection } from "../client/connection.js";
import { nextVersion } from "./choose-version.js";
import type { DeployTarget, Located } from "./deploy-target.js";

const operations = { plugins: { list, loaded, upload, enable, disable }, session: { show } };

/** A plugin as the target of a deployment. The daemon can install only one version of a plugin. */
export class PluginTarget implements DeployTarget {
  readonly connection: Connection<typeof operations>;
  readonly #name: string;
  readonly #installed: Plugin | undefined;
  readonly existing: DeployTarget["existing"];
  readonly before: string | undefined;
  readonly version: string;
  readonly versionOrigin = "declared";
  readonly activeDigest = undefined;

  static async open(context: Context, identity: { readonly name: string; readonly version: string }): Promise<PluginTarget> {
    const connection = await connect(context, operations);
    return new PluginTarget(connection, identity, await connection.client.plugins.list());
  }

  private constructor(
    connection: Connection<typeof operations>,
    { name, version }: { readonly name: string; readonly version: string },
    plugins: readonly Plugin[],
  ) {
    this.connection = connection;
    this.#name = name;
    this.version = version;
    this.#installed = plugins.find((plugin) => plugin.name === name);
    const isUploaded = this.#installed?.removable === true && this.#installed.version === version;
    this.existing = isUploaded ? { isEnabled: this.#installed.enabled, digest: this.#installed.deploy?.digest } : undefined;
    this.before = this.#installed?.version;
  }

  get loss(): string | undefined {
    return this.#installed && `the upload replaces ${this.#name}@${this.#installed.version}, which cannot be restored`;
  }

  get newVersionHint(): string {
    return `add --version ${nextVersion([{ version: this.version }])}`;
  }

  get lines(): DeployTarget["lines"] {
    return { off: `runtimectl plugins disable ${this.#name}`, on: `runtimectl plugins enable ${this.#name}` };
  }

  forInstalledVersion(): this {
    return this;
  }

  async upload(file: UploadSource): Promise<void> {
    await this.connection.client.plugins.upload({ file });
  }

  async setEnabled(enabled: boolean): Promise<void> {
    await this.connection.client.plugins[enabled ? "enable" : "disable"]({ params: { name: this.#name } });
  }

  async locate(): Promise<Located> {
    const { client, origin } = this.connection;
    const [plugins, atWork] = await Promise.all([client.plugins.list(), client.plugins.loaded()]);
    const state = plugins.find(({ name }) => name === this.#name);
    const base = atWork.find(({ name }) => name === this.#name)?.base ?? "";
    const trouble = state?.status === "failed" ? `it failed to load: ${state.error ?? "see the daemon's log"}` : undefined;
    return { url: `${origin}${base}/`, trouble };
  }
}
