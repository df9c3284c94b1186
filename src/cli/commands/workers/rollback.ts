import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { isPackageVersion } from "../../../shared/package-name.js";
import { anyResponse, checkResponse, parseResponseCheck } from "../../client/response-check.js";
import { CommandError, usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { findWorker } from "./installed-worker.js";
import { planRollback, VersionTransaction } from "./rollback-plan.js";

interface Options {
  readonly to?: string;
  readonly check?: string;
}

export const command = defineCommand<[name: string], Options>({
  arguments: [{ syntax: "<name>", description: "The worker, such as @team/app" }],
  options: [
    { flags: "--to <version>", description: "The version to activate (default: the next lower enabled version, else the next lower one)" },
    { flags: "--check <path[=status]>", description: "Request this path before the switch (default: / with any status below 500)" },
  ],
  fields: ["name", "url", "from", "to", "disabled", "check"],
  examples: [
    ["runtimectl workers rollback @team/app", "activate the previous version"],
    ["runtimectl rollback @team/app --to 1.1.0 --check /health=200", "activate 1.1.0 if its /health responds with 200"],
  ],
  notes:
    "The command enables the older version and checks its version URL while the newer version stays active. Then it disables the newer version.\n" +
    "If the check fails, the command restores the previous state and exits with 11, or with 12 if the restore fails.\n" +
    "--check without a status expects 200 to 399. Nothing is deleted. Undo: runtimectl workers enable <name@version>.",
  async run(context, [reference], options) {
    const name = workerName(reference);
    const wanted = options.to === undefined ? undefined : versionOf(options.to);
    const check = options.check === undefined ? anyResponse : parseResponseCheck(options.check);
    const connection = await connect(context, { workers: { list, enable, disable } });
    const { from, to, inTheWay } = planRollback(await findWorker(connection, name), wanted);
    const switches = new VersionTransaction(context, connection, name);
    const answer = await unlessItFails(switches, async () => {
      if (!to.enabled) await switches.enable(to.version);
      const answered = await checkResponse(context, connection, { base: `/${name}@${to.version}`, check });
      if (answered.problem !== undefined)
        throw new CommandError("CHECK_FAILED", `the health check of ${name}@${to.version} failed: ${answered.problem}`, {
          exitCode: exitCodes.rolledBack,
          hint: `nothing changed; to see the log: runtimectl workers logs ${name}@${to.version}`,
        });
      for (const { version } of inTheWay) await switches.disable(version);
      return answered;
    });
    const url = `${connection.origin}/${name}/`;
    const disabled = inTheWay.map(({ version }) => version);
    context.output.note(
      `${name}: ${to.version} is now the active version${from === undefined ? "" : ` instead of ${from.version}`}; ` +
        `the check got ${answer.status} in ${answer.tookMs} ms`,
    );
    for (const version of disabled) context.output.undo(`runtimectl workers enable ${name}@${version}`);
    const { status, tookMs } = answer;
    context.output.result(
      { name, url, from: from?.version ?? null, to: to.version, disabled, check: { path: check.path, status, tookMs } },
      url,
    );
  },
});

function workerName(reference: string): string {
  const { name, version } = parsePackageReference(reference);
  if (version === undefined) return name;
  throw usageError(
    "workers rollback accepts no version after the name, because it starts from the active version",
    `runtimectl workers rollback ${name} --to ${version}`,
  );
}

function versionOf(text: string): string {
  if (isPackageVersion(text)) return text;
  throw usageError(`--to: ${JSON.stringify(text)} is not a version`, "use a version such as 1.2.0, or latest");
}

/** Runs `act`. If `act` throws, reverts the changes in `switches` and throws the same error. */
async function unlessItFails<Result>(switches: VersionTransaction, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const left = await switches.undo();
    if (left.length === 0) throw error;
    throw new CommandError(
      "NOT_ROLLED_BACK",
      `${error instanceof Error ? error.message : String(error)}; some version changes could not be reverted`,
      {
        exitCode: exitCodes.notRolledBack,
        hint: "to revert them, run the listed commands",
        details: left,
        cause: error,
      },
    );
  }
}
