import { list } from "../../../shared/contract/workers.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { hasDesktop, openBrowser } from "../../open-browser.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { canAsk } from "../../output/prompts.js";
import { activeVersionOf } from "../../../shared/worker-versions.js";
import { findWorker } from "./installed-worker.js";

interface Options {
  readonly print?: boolean;
}

export const command = defineCommand<[reference: string], Options>({
  arguments: [{ syntax: "<name[@version]>", description: "The worker, such as @team/app, or one version of it" }],
  options: [{ flags: "--print", description: "Only print the URL" }],
  fields: ["name", "version", "url"],
  examples: [
    ["runtimectl workers open @team/app", "print the URL and open it in the browser"],
    ["runtimectl workers open @team/app@1.2.0 --print", "print the URL of one version"],
    ['curl "$(runtimectl workers open @team/app)health"', "use the URL in a pipe, where no browser opens"],
  ],
  notes: "A browser opens only from a terminal on a desktop: not in a pipe, with CI set, or without a display.",
  async run(context, [reference], options) {
    const { name, version } = parsePackageReference(reference);
    const connection = await connect(context, { workers: { list } });
    const { versions } = await findWorker(connection, name);
    const served = version === undefined ? activeVersionOf(versions) : versions.find((installed) => installed.version === version);
    if (served === undefined && version !== undefined)
      throw new CommandError("WORKER_VERSION_NOT_FOUND", `${name} has no version ${version}`, {
        exitCode: exitCodes.notFound,
        hint: `runtimectl workers show ${name}`,
      });
    if (!served?.enabled)
      throw new CommandError("WORKER_OFF", version === undefined ? `no version of ${name} is enabled` : `${name}@${version} is disabled`, {
        exitCode: exitCodes.conflict,
        hint: `runtimectl workers enable ${version === undefined ? `${name}@VERSION` : reference}`,
      });
    const url = `${connection.origin}/${reference}/`;
    context.output.result({ name, version: served.version, url }, url);
    if (!options.print && isOnDesktop(context)) openBrowser(url, context.variables);
  },
});

function isOnDesktop(context: Context): boolean {
  return hasDesktop(context.environment) && context.terminal.stdoutIsTty && canAsk(context);
}
