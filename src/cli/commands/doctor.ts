import { defineCommand, type Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { describeFailure } from "../command/failure.js";
import { checkDaemon } from "../doctor/check-daemon.js";
import { checkMachine } from "../doctor/check-machine.js";
import { checkNetwork } from "../doctor/check-network.js";
import { fail, ok, writeReport, type Finding } from "../doctor/report.js";
import { printableLines } from "../output/sanitize-for-terminal.js";
import { stateStyle, styled } from "../output/styles.js";
import { resolveSettings, type Settings } from "../config/settings.js";

interface Options {
  readonly bundle?: string;
}

export const command = defineCommand<[], Options>({
  options: [{ flags: "--bundle <file>", description: "Write a report without keys to this new file, for a bug report" }],
  fields: ["ok", "findings", "bundle"],
  examples: [
    ["runtimectl doctor", "find problems and their fixes"],
    ["runtimectl doctor --profile prod", "check another profile"],
    ["runtimectl doctor --bundle report.json", "write settings, profiles and findings, without keys, to a file"],
  ],
  notes:
    "Checks Node.js, file permissions, DNS, connection, certificate, discovery, versions, clocks, readiness, origin and key, in this order.\n" +
    "Then it checks DNS and certificate of each host name from runtimectl hosts add.\n" +
    "Changes nothing. Exits with 1 if a check failed, and with 0 if there are only warnings.",
  async run(context, _values, options) {
    const { findings, settings } = await examine(context);
    const isWell = findings.every(({ status }) => status !== "fail");
    const bundle = options.bundle === undefined ? undefined : await writeReport(context, options.bundle, findings, settings);
    show(context, { ok: isWell, findings, ...(bundle === undefined ? {} : { bundle }) });
    if (bundle !== undefined) context.output.note(`report written to ${bundle}; review it before you share it`);
    return isWell ? exitCodes.ok : exitCodes.failed;
  },
});

async function examine(context: Context): Promise<{ findings: Finding[]; settings: Settings | undefined }> {
  const findings = checkMachine(context);
  const settings = await resolveSettings(context).catch((error: unknown) => {
    const { message, hint } = describeFailure(error);
    findings.push(fail("settings", message, hint ?? "runtimectl help config"));
    return undefined;
  });
  if (settings === undefined) return { findings, settings };
  const { origin, profile } = settings;
  findings.push(ok("settings", `${origin.value} (${origin.source})${profile ? `, profile ${profile.value} (${profile.source})` : ""}`));
  for await (const finding of checkNetwork(settings)) findings.push(finding);
  if (findings.at(-1)?.status !== "fail") for await (const finding of checkDaemon(context, settings)) findings.push(finding);
  return { findings, settings };
}

function show({ output }: Context, document: { readonly ok: boolean; readonly findings: readonly Finding[] }): void {
  const rows = document.findings.map(({ status, check, message, hint = "" }) => [status, check, message, hint]);
  if (!output.isAligned) return output.table(document, ["STATUS", "CHECK", "FINDING", "WHAT TO DO"], rows);
  const text = document.findings.map(({ status, check, message, hint }) => {
    const finding = `${styled(stateStyle(status), status, output.layout)}${" ".repeat(5 - status.length)} ${check.padEnd(12)} ${printableLines(message)}`;
    return hint === undefined ? finding : `${finding}\n${" ".repeat(19)}-> ${printableLines(hint)}`;
  });
  output.laidOut(document, text.join("\n"));
}
