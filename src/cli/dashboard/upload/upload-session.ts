import { latestVersion } from "../../../shared/package-name.js";
import { formatSize } from "../../../shared/size.js";
import { list } from "../../../shared/contract/workers.js";
import { upload } from "../../../shared/contract/worker-changes.js";
import { activeUrl } from "../../commands/workers/active-url.js";
import { activeVersionOf, toInstalledWorker, type InstalledWorker } from "../../../shared/worker-versions.js";
import { pluralize } from "../../output/format.js";
import { ApiError } from "../../../shared/api-error.js";
import { messageWithReason } from "../../../shared/check-log.js";
import type { Context } from "../../command/command.js";
import { Output } from "../../output/output.js";
import { createArchive, uploadSource, type PackageArchive } from "../../pack/package-archive.js";
import { capturingTerminal } from "../capturing-terminal.js";
import type { Fact } from "../components/detail.js";
import type { Session } from "../session/session.js";

/** An upload in two steps. The first step packs the worker for a preview, and the second step uploads the archive. */
export class UploadSession {
  readonly #session: Session;
  readonly #context: Context;
  readonly #cleanUps: readonly (() => void)[];
  readonly #packageArchive: PackageArchive;
  /** The messages that packing and uploading have printed so far. */
  readonly #said: string[];
  /** Facts for the preview: the package, and the changes that the upload makes to installed versions. */
  readonly facts: readonly Fact[];

  private constructor(session: Session, { context, packageArchive, said, cleanUps, facts }: Prepared) {
    this.#session = session;
    this.#context = context;
    this.#packageArchive = packageArchive;
    this.#said = said;
    this.#cleanUps = cleanUps;
    this.facts = facts;
  }

  /** Packs a folder by the same rules as `runtimectl workers upload`. The signal cancels packing and the upload that follows. */
  static async prepare(session: Session, source: string, signal: AbortSignal): Promise<UploadSession> {
    const said: string[] = [];
    const cleanUps: (() => void)[] = [];
    const terminal = capturingTerminal(session.context, (text) => void said.push(String(text).trim()));
    const context: Context = {
      ...session.context,
      signal: AbortSignal.any([session.context.signal, signal]),
      terminal,
      output: new Output(terminal, { format: "table" }),
      onExit: (cleanUp) => {
        cleanUps.push(cleanUp);
        session.context.onExit(cleanUp);
      },
    };
    try {
      const packageArchive = await createArchive(context, source, { kind: "worker" });
      const installed = packageArchive.plan && (await installedWorker(session, packageArchive.plan.facts.name));
      signal.throwIfAborted();
      const facts = [...describe(packageArchive, installed), ...said.map((value) => ({ name: "note", value, color: "yellow" }))];
      return new UploadSession(session, { context, packageArchive, said, cleanUps, facts });
    } catch (error) {
      for (const cleanUp of cleanUps) cleanUp();
      throw error;
    }
  }

  get sizeBytes(): number {
    return this.#packageArchive.sizeBytes;
  }

  /** Uploads the archive. Returns the installed version, and a text with the URL of the worker. */
  async send(onBytes: (count: number) => void): Promise<{ name: string; version: string; text: string }> {
    const connection = await this.#session.connect(this.#context, { workers: { list, upload } });
    this.#said.length = 0;
    const file = uploadSource(this.#packageArchive, onBytes);
    const { worker } = (
      await connection.client.workers.upload({ file, query: { check: "true" } }).catch((error: unknown) => {
        throw error instanceof ApiError ? new ApiError(error.code, messageWithReason(error)) : error;
      })
    ).data;
    const url = await activeUrl(this.#context, connection, worker);
    const { name, version } = worker;
    return { name, version, text: [`uploaded ${name} ${version}: ${url}`, ...this.#said].join(" · ") };
  }

  /** Deletes the local archive file. */
  discard(): void {
    for (const cleanUp of this.#cleanUps) cleanUp();
  }
}

interface Prepared {
  readonly context: Context;
  readonly packageArchive: PackageArchive;
  readonly said: string[];
  readonly cleanUps: readonly (() => void)[];
  readonly facts: readonly Fact[];
}

/** Returns the worker with its installed versions. Sends a new request, because cached data could make the preview wrong. */
async function installedWorker(session: Session, name: string): Promise<InstalledWorker | undefined> {
  const rows = (await (await session.client()).workers.list()).filter((worker) => worker.name === name);
  return rows.length === 0 ? undefined : toInstalledWorker(name, rows);
}

function describe({ plan, filename, sizeBytes }: PackageArchive, installed: InstalledWorker | undefined): Fact[] {
  if (plan === undefined) return [{ name: "archive", value: `${filename}, ${formatSize(sizeBytes)}; the daemon reads its name` }];
  const { name, version, entrypoint } = plan.facts;
  return [
    { name: "worker", value: `${name} ${version}` },
    { name: "packed", value: `${pluralize(plan.files.length, "file")}, ${formatSize(sizeBytes)}` },
    { name: "installs", value: effectOf({ name, version }, installed) },
    ...(entrypoint === undefined
      ? [{ name: "note", value: "nothing to serve: no index.html, index.js or entrypoint", color: "yellow" }]
      : []),
    ...(version === latestVersion ? [{ name: "note", value: "no version is declared: installed as latest", color: "yellow" }] : []),
    ...plan.links.map(({ path, rule }) => ({ name: "note", value: `${path} is excluded: ${rule}`, color: "yellow" })),
  ];
}

function effectOf({ name, version }: { name: string; version: string }, installed: InstalledWorker | undefined): string {
  if (installed === undefined) return `a new worker at /${name}/`;
  const answering = activeVersionOf(installed.versions);
  const now = answering === undefined ? "no version is enabled" : `${answering.version} is the active version`;
  const isThere = installed.versions.some((there) => there.version === version);
  return isThere
    ? `replaces the installed ${version}; ${now}`
    : `adds to ${pluralize(installed.versions.length, "installed version")}; ${now}`;
}
