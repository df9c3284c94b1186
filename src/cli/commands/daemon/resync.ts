import { isDeepStrictEqual } from "node:util";
import { mostListedRevisions, resync, show, type Divergence } from "../../../shared/contract/shared-index.js";
import { connect } from "../../client/connection.js";
import { CommandError, usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { pluralize } from "../../output/format.js";
import { confirmDestruction } from "../../output/prompts.js";

interface Options {
  readonly fromCache?: boolean;
  readonly acceptPrimary?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [
    { flags: "--from-cache", description: "Replace all rows of the primary by those of this daemon" },
    { flags: "--accept-primary", description: "Replace all rows of this daemon by those of the primary" },
  ],
  fields: ["mode", "keys", "records"],
  examples: [
    ["runtimectl daemon resync", "list the missing changes, and change nothing"],
    ["runtimectl daemon resync --from-cache", "write the rows of this daemon to a primary that was restored or emptied"],
    ["runtimectl daemon resync --accept-primary", "give up the changes that the primary lacks, on this daemon only"],
  ],
  notes:
    "For a daemon that rejects changes with INDEX_DIVERGED, because the primary lacks changes that the daemon has. Requires an admin key for all namespaces.\n" +
    "Lists the missing changes first. Without a flag, exits with 2 after the list. With --from-cache, changes that other daemons made in the primary since then are lost. Daemons that lack no row follow by themselves.\n" +
    "With --accept-primary, keys that were revoked since the backup are valid again on this daemon. With an OCI registry, the daemon removes its downloaded workers and plugins that the primary lacks. Repeat it on each daemon.\n" +
    "Exits with 7 if the daemon lacks nothing or the primary changed meanwhile, and with 3 if the command is not confirmed.",
  async run(context, _none, { fromCache = false, acceptPrimary = false }) {
    const missingFlag = usageError(
      "resync requires either --from-cache or --accept-primary",
      "for the effect of each flag: runtimectl daemon resync --help",
    );
    if (fromCache && acceptPrimary) throw missingFlag;
    const { client, settings } = await connect(context, { index: { show, resync } });
    const { divergence } = await client.index.show();
    if (divergence) context.output.note(describe(divergence));
    if (!fromCache && !acceptPrimary) throw divergence ? missingFlag : notDiverged();
    await confirmDestruction(context, {
      consequence: fromCache
        ? "Replace all rows of the primary by those of this daemon"
        : "Replace all rows of this daemon by those of the primary",
      name: "resync",
      settings,
    });
    // Stops if the missing changes differ from those that the user has confirmed, for example because another daemon has replaced the
    // primary.
    if (!isDeepStrictEqual((await client.index.show()).divergence, divergence))
      throw new CommandError("CHANGE_CONFLICT", "the list of missing changes was outdated when you confirmed; nothing changed", {
        exitCode: exitCodes.conflict,
        hint: "run the command again to see the current list",
      });
    const { data } = await client.index.resync({ body: { mode: fromCache ? "from-cache" : "accept-primary" } });
    context.output.note(`resynced: ${pluralize(data.keys, "key")} and ${pluralize(data.records, "record")}`);
    context.output.result(data);
  },
});

function notDiverged(): CommandError {
  return new CommandError("INDEX_NOT_DIVERGED", "the primary already has all revisions of this daemon; nothing changed", {
    exitCode: exitCodes.conflict,
  });
}

function describe({ missingCount, missing }: Divergence): string {
  const lines = missing.map(({ revision, changes }) => `  revision ${revision}: ${changes.join("; ")}`);
  const others = missingCount - missing.length;
  if (others > 0)
    lines.push(
      `The list omits ${pluralize(others, "revision")}: internal changes, changes that a later one replaced, and all beyond the newest ${mostListedRevisions}.`,
    );
  return [`the primary lacks ${pluralize(missingCount, "revision")} of this daemon, the newest first:`, ...lines].join("\n");
}
