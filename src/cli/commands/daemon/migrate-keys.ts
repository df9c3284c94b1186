import type { MigratedKeys } from "../../../shared/backup-program.js";
import { directoryOptions, directoryVariables, type DirectoryOptions } from "../../backup/daemon-directories.js";
import { runConfirmed } from "../../backup/run-backup-program.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

interface Options extends Pick<DirectoryOptions, "stateDir" | "service"> {
  readonly primary?: string;
  readonly tokenFile?: string;
  readonly dryRun?: boolean;
}

export const command = defineCommand<[], Options>({
  options: [
    ...directoryOptions.filter(({ flags }) => /^--(?:state-dir|service) /.test(flags)),
    { flags: "--primary <url>", description: "URL of the libSQL server (default: RUNTIME_AUTH_DB_SYNC_URL)" },
    { flags: "--token-file <file>", description: "File with the token of the server (default: RUNTIME_AUTH_DB_SYNC_TOKEN_FILE, _TOKEN)" },
    { flags: "-n, --dry-run", description: "Check both databases and show what would move; change nothing" },
  ],
  fields: ["dryRun", "keys", "revoked", "primary", "keptAs"],
  examples: [
    [
      "sudo runtimectl daemon migrate-keys --service system --primary http://10.0.0.5:8080",
      "move the keys of the installed service; stop the service first",
    ],
    ["runtimectl daemon migrate-keys --state-dir /srv/state --primary http://10.0.0.5:8080 --dry-run", "show what would move"],
  ],
  notes:
    "Moves the keys of one daemon, with their ids and hashes, to a libSQL server that several daemons share. The server must not have keys.\n" +
    "All keys move in one transaction. The local store is kept as keys-moved-TIME.db. Then start the daemon with RUNTIME_AUTH_DB_MODE=sync.\n" +
    "Exits with 6 if there is no local store, with 7 if a daemon runs or the server has keys, and with 8 if the server does not respond.",
  async run(context, _none, { primary, tokenFile, dryRun = false, ...directories }) {
    const variables = {
      ...directoryVariables(context, directories),
      ...(primary !== undefined && { RUNTIME_AUTH_DB_SYNC_URL: primary }),
      ...(tokenFile !== undefined && { RUNTIME_AUTH_DB_SYNC_TOKEN_FILE: tokenFile }),
    };
    const job = { action: "migrate-keys", file: "", variables } as const;
    const moved = await runConfirmed(context, job, { isDryRun: dryRun, consequenceOf: (plan) => `Move ${describe(plan)}` });
    const kept = moved.keptAs === undefined ? "" : `\nkept ${moved.keptAs}`;
    context.output.result({ dryRun, ...moved }, `${dryRun ? "would move" : "moved"} ${describe(moved)}${kept}`);
  },
});

function describe({ keys, revoked, primary }: MigratedKeys): string {
  return `${pluralize(keys, "key")} and ${revoked} revoked to ${primary}`;
}
