import { list } from "../../../shared/contract/workers.js";
import type { Deployment } from "../../../shared/deployment.js";
import { answeringVersion, installedVersions } from "../../../shared/worker-versions.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize, ago, toDateTime } from "../../output/format.js";
import { uploadedWorkers } from "../../uploaded-workers.js";

const shortCommitLength = 7;

export const command = defineCommand<[], { all?: boolean }>({
  options: [{ flags: "--all", description: "Also list built-in workers, such as the control panel" }],
  fields: ["name", "versions", "path", "removable", "source", "installs"],
  examples: [
    ["runtimectl workers list", "list versions with state, source, commit and deployment time"],
    ["runtimectl workers list | cut -f1", "print only names: columns in a pipe are separated by tabs"],
    ["runtimectl workers list --json | jq '.workers[].name'", "print names from the JSON document"],
  ],
  notes:
    "LIVE marks the active version, which is served at the URL of the worker. Other enabled versions are served only at their version URLs.",
  async run(context, _values, { all = false }) {
    const { client, settings } = await connect(context, { workers: { list } });
    const installed = await client.workers.list();
    const listed = all ? installed : uploadedWorkers(installed);
    const hidden = installed.length - listed.length;
    const workers = listed.map(({ versions, disabledVersions, deploys = {}, installs = {}, ...worker }) => {
      // A worker can have built-in and uploaded versions, which are separate rows. Only one of these versions is active.
      const live = answeringVersion(installedVersions(installed.filter(({ name }) => name === worker.name)));
      return {
        ...worker,
        versions: versions.map((version) => {
          const [deploy, installation] = [deploys[version], installs[version]];
          const answers = live?.version === version && live.source === worker.source;
          return {
            version,
            enabled: !disabledVersions.includes(version),
            answers,
            ...(deploy && { deploy }),
            ...(installation && { installation }),
          };
        }),
      };
    });
    const hasCommits = workers.some((worker) => worker.versions.some(({ deploy }) => deploy !== undefined));
    const hasTimes = workers.some((worker) => worker.versions.some(({ deploy, installation }) => (deploy ?? installation) !== undefined));
    const rows = workers.flatMap((worker) =>
      worker.versions.map(({ version, enabled, answers, deploy, installation }) => [
        worker.name,
        version,
        enabled ? "on" : "off",
        answers ? "live" : "",
        worker.source,
        ...(hasCommits ? [commitCell(context, deploy)] : []),
        ...(hasTimes ? [timeCell(context, deploy?.at ?? installation?.at)] : []),
      ]),
    );
    context.output.table(
      { workers },
      ["NAME", "VERSION", "STATE", "LIVE", "SOURCE", ...(hasCommits ? ["COMMIT"] : []), ...(hasTimes ? ["DEPLOYED"] : [])],
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

/** Returns the short commit id of a deployment, followed by `*` if the working tree had uncommitted changes. */
function commitCell({ output: { isAligned } }: Context, { commit, dirty = false }: Partial<Deployment> = {}): string {
  const shown = commit?.slice(0, shortCommitLength) ?? (isAligned ? "-" : "");
  return dirty ? `${shown}*` : shown;
}

/** Formats the time of an event for a table: its age on a terminal, RFC 3339 in a pipe. */
function timeCell({ output: { isAligned } }: Context, at: number | undefined): string {
  if (at === undefined) return isAligned ? "-" : "";
  return isAligned ? ago(at, Date.now()) : toDateTime(at);
}
