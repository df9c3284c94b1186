import { show as showMetrics, type WorkerMetrics } from "../../../shared/contract/metrics.js";
import { list as listHosts } from "../../../shared/contract/hosts.js";
import { list } from "../../../shared/contract/workers.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import type { Output } from "../../output/output.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { factLines, alignedTable } from "../../output/table.js";
import { ago, toMegabytes, toMilliseconds, toRate } from "../../output/format.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { activeVersionOf, type InstalledVersion } from "../../../shared/worker-versions.js";
import { describeAutomaticHost, findHosts } from "../hosts/worker-hosts.js";
import { findWorker } from "./installed-worker.js";

const headings = ["VERSION", "STATE", "SERVED AT", "SOURCE", "KIND", "REQ/S (1M)", "P99 (1M)", "ERRORS", "ISOLATES", "MEMORY"];
const installHeadings = ["VERSION", "INSTALLED", "BY", "VIA"];

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name[@version]>", description: "The worker, such as @team/app, or one version of it" }],
  fields: ["name", "url", "answering", "versions", "automaticHost", "automaticHostReason", "hosts", "requestedHosts"],
  examples: [
    ["runtimectl workers show @team/app", "show versions, URLs, load and installations"],
    ["runtimectl workers show @team/app@1.2.0", "show one version"],
    ["runtimectl workers show @team/app --json | jq -r .answering", "print the active version"],
  ],
  notes:
    "Every enabled version is also served at its version URL.\n" +
    "Rates and times cover about the last minute. Errors are counted since the daemon started. - means no requests.",
  async run(context, [reference]) {
    const { name, version } = parsePackageReference(reference);
    const connection = await connect(context, { workers: { list }, metrics: { show: showMetrics }, hosts: { list: listHosts } });
    const [worker, metrics, hosts] = await Promise.all([
      findWorker(connection, name),
      connection.client.metrics.show({ query: { worker: name } }),
      findHosts(connection, { name, version }),
    ]);
    const answering = activeVersionOf(worker.versions);
    const urlOf = (installed: InstalledVersion) => `${connection.origin}/${name}${installed === answering ? "" : `@${installed.version}`}/`;
    const rowOf = new Map(metrics.workers.map((row) => [row.version, row]));
    const versions = worker.versions
      .filter((installed) => version === undefined || installed.version === version)
      .map((installed) => ({
        ...installed,
        answers: installed === answering,
        url: installed.enabled ? urlOf(installed) : null,
        metrics: rowOf.get(installed.version) ?? null,
      }));
    if (versions.length === 0)
      throw new CommandError("WORKER_VERSION_NOT_FOUND", `${name} has no version ${version}`, {
        exitCode: exitCodes.notFound,
        hint: `runtimectl workers show ${name}`,
      });
    const url = answering === undefined ? null : urlOf(answering);
    const text = [
      factLines(
        [
          ["worker", name],
          ["url", url ?? "none: no version is enabled"],
          ["hosts", hosts && [...hosts.hosts, describeAutomaticHost(hosts)].join("  ")],
          [
            "requested",
            hosts?.requestedHosts.length ? `${hosts.requestedHosts.join("  ")} (not added: runtimectl hosts add HOST ${name})` : undefined,
          ],
          ["active", answering?.version],
          ["folder", [...new Set(versions.map(({ path }) => path))].join("  ")],
        ],
        context.output.layout,
      ),
      alignedTable(
        headings,
        versions.map((shown) => toRow(shown, shown.url?.slice(connection.origin.length) ?? "-", shown.metrics)),
        context.output.layout,
      ),
      ...installsOf(versions, context.output),
    ];
    context.output.laidOut({ name, url, answering: answering?.version ?? null, versions, ...hosts }, text.join("\n\n"));
  },
});

/** Returns the lines of a table that shows who uploaded each version. Empty if no version was uploaded through the API. */
function installsOf(versions: readonly InstalledVersion[], { layout }: Output): string[] {
  const rows = versions.flatMap(({ version, installation }) =>
    installation ? [[version, ago(installation.at, Date.now()), installation.by, installation.via]] : [],
  );
  return rows.length === 0 ? [] : [alignedTable(installHeadings, rows, layout)];
}

function toRow({ version, enabled, source }: InstalledVersion, answersAt: string, metrics: WorkerMetrics | null): string[] {
  const shown = [version, enabled ? "on" : "off", answersAt, source];
  if (metrics === null) return [...shown, "-", "-", "-", "-", "-", "-"];
  return [
    ...shown,
    metrics.kind ?? "-",
    toRate(metrics.requests.perSecond),
    toMilliseconds(metrics.latency.recent.p99Ms),
    String(metrics.requests.failed),
    String(metrics.isolates.running),
    toMegabytes(metrics.memory.pssBytes ?? metrics.memory.rssBytes),
  ];
}
