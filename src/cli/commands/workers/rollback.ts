import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { isPackageVersion } from "../../../shared/package-name.js";
import { anyAnswer, checkAnswer, parseAnswerCheck } from "../../client/answer-check.js";
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
    { flags: "--to <version>", description: "The version that shall answer (default: the one before the one that answers)" },
    { flags: "--check <path[=status]>", description: "Ask it for this path first (default: / with any status below 500)" },
  ],
  fields: ["name", "url", "from", "to", "disabled", "check"],
  examples: [
    ["runtimectl workers rollback @team/app", "let the version before answer again"],
    ["runtimectl rollback @team/app --to 1.1.0 --check /health=200", "a certain version, if its /health answers with 200"],
  ],
  notes:
    "The older version is switched on and asked under its own URL, while the newer one still answers. Only then the newer one is switched off.\n" +
    "When it does not answer as expected, everything is as before, and the command ends with 11 (with 12 when that did not work either).\n" +
    "A --check alone expects a status from 200 to 399. Nothing is deleted. Undo: runtimectl workers enable <name@version>.",
  async run(context, [reference], options) {
    const name = workerName(reference);
    const wanted = options.to === undefined ? undefined : versionOf(options.to);
    const check = options.check === undefined ? anyAnswer : parseAnswerCheck(options.check);
    const connection = await connect(context, { workers: { list, enable, disable } });
    const { from, to, inTheWay } = planRollback(await findWorker(connection, name), wanted);
    const switches = new VersionTransaction(context, connection, name);
    const answer = await unlessItFails(switches, async () => {
      if (!to.enabled) await switches.enable(to.version);
      const answered = await checkAnswer(context, connection, { base: `/${name}@${to.version}`, check });
      if (answered.problem !== undefined)
        throw new CommandError("CHECK_FAILED", `${name}@${to.version} does not answer as it should: ${answered.problem}`, {
          exitCode: exitCodes.rolledBack,
          hint: "everything is as it was before; runtimectl workers logs says what the version wrote",
        });
      for (const { version } of inTheWay) await switches.disable(version);
      return answered;
    });
    const url = `${connection.origin}/${name}/`;
    const disabled = inTheWay.map(({ version }) => version);
    context.output.note(
      `${name} is answered by ${to.version}${from === undefined ? "" : `, no longer by ${from.version}`}; ` +
        `it answered with ${answer.status} in ${answer.tookMs} ms`,
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
  throw usageError("a worker is rolled back from the version that answers", `runtimectl workers rollback ${name} --to ${version}`);
}

function versionOf(text: string): string {
  if (isPackageVersion(text)) return text;
  throw usageError(`--to: ${JSON.stringify(text)} is not a version`, "versions look like 1.2.0, or are the word latest");
}

/** Does what is told; when that fails, switches everything back first. */
async function unlessItFails<Result>(switches: VersionTransaction, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const left = await switches.undo();
    if (left.length === 0) throw error;
    throw new CommandError("NOT_ROLLED_BACK", `${error instanceof Error ? error.message : String(error)}; and it could not be undone`, {
      exitCode: exitCodes.notRolledBack,
      hint: "run what is listed",
      details: left,
      cause: error,
    });
  }
}
