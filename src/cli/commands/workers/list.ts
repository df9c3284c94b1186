import { health } from "../../../shared/contract/worker-health.js";
import { list } from "../../../shared/contract/workers.js";
import type { Deployment } from "../../../shared/deployment.js";
import { activeVersionOf, installedVersions } from "../../../shared/worker-versions.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize, ago, toDateTime } from "../../output/format.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { findHealth } from "./find-health.js";

const shortCommitLength = 7;
const headings = ["NAME", "VERSION", "STATE", "LIVE", "SOURCE"];

export const command = defineCommand<[], { all?: boolean }>({
  options: [{ flags: "--all", description: "Also list built-in workers, such as the control panel" }],
  fields: ["name", "versions", "path", "removable", "source", "installs"],
  examples: [
    ["runtimectl workers list", "list versions with state, source, commit and deployment time"],
    ["runtimectl workers list | cut -f1", "print only names: columns in a pipe are separated by tabs"],
    ["runtimectl workers list --json | jq '.workers[].name'", "print names from the JSON document"],
  ],
  notes:
    "LIVE marks the active version, which is served at the URL of the worker. Other enabled versions are served only at their version URLs.\n" +
    "On a terminal, STATE is the health of the active version, and on or off for others. In a pipe, STATE is on or off, and the last column is the health.",
  async run(context, _values, { all = false }) {
    const connection = await connect(context, { workers: { list, health } });
    const { client, settings } = connection;
    const [installed, healths] = await Promise.all([client.workers.list(), findHealth(connection)]);
    const listed = all ? installed : uploadedWorkers(installed);
    const hidden = installed.length - listed.length;
    const workers = listed.map(({ versions, disabledVersions, deploys = {}, installs = {}, ...worker }) => {
      // The API returns the built-in and the uploaded versions of a worker in separate rows. At most one version of both rows is active.
      const live = activeVersionOf(installedVersions(installed.filter(({ name }) => name === worker.name)));
      return {
        ...worker,
        versions: versions.map((version) => {
          const [deploy, installation] = [deploys[version], installs[version]];
          const answers = live?.version === version && live.source === worker.source;
          const state = answers ? healths?.get(worker.name) : undefined;
          return {
            version,
            enabled: !disabledVersions.includes(version),
            answers,
            ...(state && { health: state }),
            ...(deploy && { deploy }),
            ...(installation && { installation }),
          };
        }),
      };
    });
    const hasCommits = workers.some((worker) => worker.versions.some(({ deploy }) => deploy !== undefined));
    const hasTimes = workers.some((worker) => worker.versions.some(({ deploy, installation }) => (deploy ?? installation) !== undefined));
    const hasHealthColumn = healths !== undefined && !context.output.isAligned;
    const rows = workers.flatMap((worker) =>
      worker.versions.map(({ version, enabled, answers, health: state, deploy, installation }) => [
        worker.name,
        version,
        (context.output.isAligned && state?.state) || (enabled ? "on" : "off"),
        answers ? "live" : "",
        worker.source,
        ...(hasCommits ? [commitCell(context, deploy)] : []),
        ...(hasTimes ? [timeCell(context, deploy?.at ?? installation?.at)] : []),
        ...(hasHealthColumn ? [state?.state ?? ""] : []),
      ]),
    );
    context.output.table(
      { workers },
      [...headings, ...(hasCommits ? ["COMMIT"] : []), ...(hasTimes ? ["DEPLOYED"] : []), ...(hasHealthColumn ? ["HEALTH"] : [])],
      rows,
    );
    const where = settings.profile ? ` · profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
    const note = hidden === 0 ? "" : ` · ${pluralize(hidden, "built-in worker")} ${hidden === 1 ? "is" : "are"} not shown (--all)`;
    context.output.footer(
      rows.length === 0
        ? `no workers; to deploy a folder: runtimectl deploy ./dir${note}`
        : `${pluralize(rows.length, "version")} of ${pluralize(workers.length, "worker")}${where}${note}`,
    );
  },
});

/** Returns the short commit id of a deployment, followed by `*` if the working tree contained uncommitted changes. */
function commitCell({ output: { isAligned } }: Context, { commit, dirty = false }: Partial<Deployment> = {}): string {
  const shown = commit?.slice(0, shortCommitLength) ?? (isAligned ? "-" : "");
  return dirty ? `${shown}*` : shown;
}

/** Formats the time of an event for a table: the age on a terminal, an RFC 3339 time in a pipe. */
function timeCell({ output: { isAligned } }: Context, at: number | undefined): string {
  if (at === undefined) return isAligned ? "-" : "";
  return isAligned ? ago(at, Date.now()) : toDateTime(at);
}
