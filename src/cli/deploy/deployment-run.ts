import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import { formatSize } from "../../shared/size.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import type { OpenedPackage } from "../pack/open-package.js";
import { sendArchive } from "../pack/package-archive.js";
import { showFiles } from "../pack/show-plan.js";
import { writeArchive } from "../pack/write-archive.js";
import { confirmDestruction } from "../output/prompts.js";
import { describeAutomaticHost, type WorkerHosts } from "../commands/hosts/worker-hosts.js";
import { packDeployable, type DeployAction, type Deployable } from "./prepare-deployment.js";
import { noteStep, type DeployOptions } from "./deploy-options.js";
import { checkFailure } from "./check-failure.js";
import { checkHealth, type HealthOutcome } from "./health-check.js";
import type { PluginTarget } from "./plugin-target.js";
import { writeGitHubOutputs } from "./ci.js";
import { WorkerTarget } from "./worker-target.js";

const actionWords: Readonly<Record<Exclude<DeployAction, "none">, string>> = {
  install: "be installed",
  replace: "replace the installed version",
  enable: "be enabled",
};

interface Parts {
  readonly opened: OpenedPackage;
  readonly options: DeployOptions;
  readonly deployable: Deployable;
  readonly target: WorkerTarget | PluginTarget;
  readonly action: DeployAction;
}

/** One deployment, which `deploy` either performs or only shows (`--dry-run`). */
export class DeploymentRun {
  readonly #context: Context;
  readonly #parts: Parts;
  readonly #startedAtMs = performance.now();

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
  }

  /**
   * Whether `deploy` chose the version number itself. If two simultaneous deployments choose the same number, the daemon rejects the
   * second.
   */
  get hasAssignedVersion(): boolean {
    return this.#parts.deployable.isAssigned;
  }

  /** Prints what the deployment would do, with all files. Called for `--dry-run` instead of `perform`. Resolves with the exit code. */
  async show(): Promise<ExitCode> {
    const { opened, options, deployable, action, target } = this.#parts;
    const archive = await writeArchive(deployable.plan.files, path.join(opened.workspace, "package.tgz"), this.#context.signal);
    const isPending = action !== "none";
    const document = { dryRun: true, action, kind: opened.kind, digest: deployable.digest, before: target.before ?? null };
    const note = isPending ? `dry run: the package would ${actionWords[action]}; nothing changed` : "dry run: nothing would change";
    showFiles(this.#context.output, deployable.plan, archive, { document, note });
    return isPending && options.hasExitCode ? exitCodes.changesPending : exitCodes.ok;
  }

  async perform(): Promise<void> {
    const { action, deployable, options, target } = this.#parts;
    await this.#confirm();
    if (action === "none") return this.#checkInstalled();
    const sizeBytes = action === "enable" ? 0 : await this.#upload();
    if (action === "enable") await target.setEnabled(true);
    const { url, trouble } = await target.locate(deployable);
    if (trouble !== undefined) await this.#fail(trouble);
    const { version } = deployable.plan.facts;
    const offReason = options.isOff ? "because of --no-enable" : "because of enabled: false in the manifest";
    noteStep(
      this.#context,
      "Enable",
      deployable.isOff ? `${version} is disabled ${offReason}` : `${version} is enabled${this.#beforeWords()}`,
    );
    const health = options.check && (await this.#check(url));
    const deleted = options.keep === undefined ? [] : await this.#deleteOld(options.keep);
    await this.#printResult({ sizeBytes, health, deleted, url });
  }

  /**
   * Runs instead of the upload if the same content is already installed and enabled. Checks the installed version and deletes old versions.
   */
  async #checkInstalled(): Promise<void> {
    const { deployable, options, target } = this.#parts;
    const { url } = await target.locate(deployable);
    const health = options.check && (await this.#check(url));
    const deleted = options.keep === undefined ? [] : await this.#deleteOld(options.keep);
    await this.#printResult({ sizeBytes: 0, health, deleted, url });
  }

  /** On a production profile, asks the user to confirm changes that cannot be reverted. */
  async #confirm(): Promise<void> {
    const { action, deployable, options, target } = this.#parts;
    const { settings } = target.connection;
    if (!settings.isProduction || (action !== "replace" && options.keep === undefined)) return;
    const { name, version } = deployable.plan.facts;
    const consequences = [
      ...(action === "replace" ? [`Replace ${name}@${version}`] : []),
      ...(options.keep === undefined ? [] : [`Delete the oldest versions of ${name}, all but ${options.keep}`]),
    ];
    await confirmDestruction(this.#context, { consequence: consequences.join("; "), name, settings });
  }

  async #upload(): Promise<number> {
    const { opened, options, deployable, target } = this.#parts;
    const packageArchive = await packDeployable(this.#context, opened, { ...deployable, message: options.message });
    const send = (file: UploadSource) => target.upload(file, { isChecked: options.isChecked });
    await sendArchive(this.#context, packageArchive, send).catch(async (error: unknown) => {
      if (this.#context.signal.aborted)
        this.#context.output.warn("the daemon can still install the version, because it has received the archive");
      if (isMissingScope(error, deployable.plan.facts)) throw await this.#missingScope(error);
      throw await checkFailure(error, { folder: opened.folder, files: packageArchive.plan.files });
    });
    noteStep(this.#context, "Upload", formatSize(packageArchive.sizeBytes));
    return packageArchive.sizeBytes;
  }

  /** Returns the error of an upload without a scope, with the package name in a namespace of the key as the hint. */
  async #missingScope(denial: ApiError): Promise<CommandError> {
    const { deployable, target } = this.#parts;
    const session = await target.connection.client.session.show().catch(() => undefined);
    const name = `${session?.principal.namespaces[0] ?? "@scope"}/${deployable.plan.facts.name}`;
    const { code, message, status, details, requestId } = denial;
    const hint = `add --name ${name}, or set this name in the manifest`;
    return new CommandError(code, message, { exitCode: exitCodes.forbidden, hint, status, details, requestId, cause: denial });
  }

  async #check(url: string): Promise<HealthOutcome & { passed: true }> {
    const { options, target } = this.#parts;
    const { settings } = target.connection;
    const outcome = await checkHealth(this.#context, options.check as NonNullable<typeof options.check>, { base: url, settings });
    if (!outcome.passed) return this.#fail(`the health check of ${outcome.url} failed: ${outcome.reason}`);
    noteStep(this.#context, "Check", `GET ${outcome.url} -> ${outcome.status} in ${outcome.durationMs} ms`);
    return outcome;
  }

  /** Reverts the deployment if the user set `--rollback-on-fail`. Always throws the error with which the command ends. */
  async #fail(reason: string): Promise<never> {
    const { action, deployable, options, target } = this.#parts;
    const { name, version } = deployable.plan.facts;
    if (!options.rollsBack || action === "none")
      throw failed(`${name}@${version} is installed, but ${reason}`, `to disable it: ${target.lines.off}`);
    await target.setEnabled(false).catch((error: unknown) => {
      throw failed(`${reason}; the rollback failed`, target.lines.off, [error instanceof Error ? error.message : String(error)]);
    });
    const now = target.before === undefined ? "no version is active, as before" : `${target.before} is the active version again`;
    throw new CommandError("CHECK_FAILED_ROLLED_BACK", `${reason}; rolled back: ${now}`, {
      exitCode: exitCodes.rolledBack,
      hint: `${name}@${version} is installed but disabled; to see its log: runtimectl workers logs ${name}@${version}`,
    });
  }

  async #deleteOld(keep: number): Promise<readonly string[]> {
    const { deployable, target } = this.#parts;
    const deleted: string[] = [];
    if (!(target instanceof WorkerTarget)) return deleted;
    try {
      await target.deleteOldVersions(keep, (version) => deleted.push(version));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { name, version } = deployable.plan.facts;
      throw new CommandError("PARTLY_DONE", `${name}@${version} is deployed, but old versions could not be deleted: ${error.message}`, {
        exitCode: exitCodes.partlyDone,
        details: deleted.map((old) => `deleted ${name}@${old}`),
        hint: `runtimectl workers delete ${name}@VERSION`,
      });
    }
    noteStep(this.#context, "Keep", deleted.length === 0 ? "nothing to delete" : `deleted ${deleted.join(", ")}`);
    return deleted;
  }

  async #printResult({
    url,
    sizeBytes,
    health,
    deleted,
  }: {
    url?: string;
    sizeBytes: number;
    health: (HealthOutcome & { passed: true }) | undefined;
    deleted: readonly string[];
  }): Promise<void> {
    const { opened, deployable, target, action } = this.#parts;
    const { name, version } = deployable.plan.facts;
    const answersAt = url ?? (await target.locate(deployable)).url;
    const hosts = target instanceof WorkerTarget ? await this.#printHosts(target) : undefined;
    const line = action === "none" || target.loss !== undefined ? null : deployable.isOff ? target.lines.on : target.lines.off;
    const undo = line === null ? null : this.#context.output.repeatFlags(line);
    const seconds = ((performance.now() - this.#startedAtMs) / 1000).toFixed(1);
    const { output } = this.#context;
    if (action === "none") output.note(`${name}@${version} is already installed with the same content; nothing was uploaded`);
    else output.note(`in ${seconds} s`, { text: "Done", style: "green" });
    if (undo !== null && !deployable.isOff) output.undo(undo);
    if (undo !== null && deployable.isOff) output.note(undo, { text: "To serve it:", style: "bold" });
    const document = {
      kind: opened.kind,
      name,
      version,
      action,
      enabled: !deployable.isOff,
      url: answersAt,
      before: target.before ?? null,
      digest: deployable.digest,
      sizeBytes,
      check: health ? { url: health.url, status: health.status, durationMs: health.durationMs } : null,
      deleted,
      undo,
      ...hosts,
    };
    await writeGitHubOutputs(this.#context, document);
    this.#context.output.result(document, answersAt);
  }

  async #printHosts(target: WorkerTarget): Promise<WorkerHosts | undefined> {
    const { name, hosts: requested = [] } = this.#parts.deployable.plan.facts;
    const hosts = await target.findHosts(requested);
    if (hosts === undefined) return undefined;
    noteStep(this.#context, "Host", [...hosts.hosts, describeAutomaticHost(hosts)].join(", "));
    for (const host of hosts.requestedHosts)
      this.#context.output.warn(`the manifest requests ${host}, which is not added; to add it: runtimectl hosts add ${host} ${name}`);
    return hosts;
  }

  #beforeWords(): string {
    const { before } = this.#parts.target;
    const { version } = this.#parts.deployable.plan.facts;
    if (before === undefined || before === version) return "";
    return this.#parts.opened.kind === "worker" ? `, ${before} stays installed` : ` and replaces ${before}`;
  }
}

/** Whether the daemon rejected the package because it has no scope and the key is restricted to namespaces. */
function isMissingScope(error: unknown, { name }: { readonly name: string }): error is ApiError {
  return error instanceof ApiError && error.code === "NAMESPACE_DENIED" && !name.startsWith("@");
}

function failed(message: string, hint: string, details?: readonly string[]): CommandError {
  return new CommandError("CHECK_FAILED", message, { exitCode: exitCodes.notRolledBack, hint, details });
}
