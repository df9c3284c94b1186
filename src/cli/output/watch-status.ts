import { setTimeout as wait } from "node:timers/promises";
import { CommandError } from "../command/command-error.js";
import { factLines } from "./facts.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { describeFailure } from "../command/failure.js";
import { readStatus, statusWithoutAnswer, type StatusConnection, type StatusReport } from "./status-report.js";

const intervalMs = 2000;

/** Shows the status whenever it has changed, until the command is interrupted. On a terminal it stays in its place. */
export async function watchStatus({ output, signal, terminal }: Context, connection: StatusConnection): Promise<void> {
  let seen: string | undefined;
  let shownLineCount = 0;
  while (!signal.aborted) {
    const report = await statusNow(connection, signal);
    if (report === undefined) return;
    const text = factLines(report.facts, output.layout);
    const change = output.isJson ? JSON.stringify({ ...report.document, load: null }) : text;
    if (change !== seen) {
      const redraw = terminal.stdoutIsTty && shownLineCount > 0 ? `\x1b[${shownLineCount}A\x1b[J` : "";
      output.line(report.document, redraw + (terminal.stdoutIsTty ? text : `${text}\n`));
      [seen, shownLineCount] = [change, text.split("\n").length];
    }
    await wait(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined when the command was interrupted meanwhile. A daemon that is not there now may be back the next time. */
async function statusNow(connection: StatusConnection, signal: AbortSignal): Promise<StatusReport | undefined> {
  try {
    return await readStatus(connection);
  } catch (error) {
    if (signal.aborted) return undefined;
    const { exitCode, code } = describeFailure(error);
    if (exitCode !== exitCodes.unavailable) throw error;
    return statusWithoutAnswer(connection, error instanceof CommandError ? error.message : code);
  }
}
