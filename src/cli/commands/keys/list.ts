import { list } from "../../../shared/contract/keys.js";
import { show } from "../../../shared/contract/session.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { endCell, keyDocument, keyFields, lastUseCell } from "./show.js";

const headings = ["ID", "NAME", "ROLE", "PREFIX", "NAMESPACES", "EXPIRES", "LAST USED", "OWN"];

export const command = defineCommand<[]>({
  fields: keyFields,
  examples: [
    ["runtimectl keys list", "list the keys with role and expiry"],
    ["runtimectl keys list --json", "list with permissions, as JSON"],
    ["runtimectl keys list --json | jq '.keys[] | select(.lastUsedAt == null)'", "list the keys that were never used"],
  ],
  notes: "* marks your own key. Secrets are never listed. Revoked keys are not listed; expired keys are listed until you revoke them.",
  async run(context) {
    const { client } = await connect(context, { keys: { list }, session: { show } });
    const [{ keys }, { principal }] = await Promise.all([client.keys.list(), client.session.show()]);
    const { isAligned } = context.output;
    const rows = keys.map((key) => [
      String(key.id),
      key.name,
      key.role,
      key.keyPrefix,
      key.namespaces.join(" "),
      endCell(key, isAligned),
      lastUseCell(key, isAligned),
      key.id === principal.id ? "*" : "",
    ]);
    context.output.table({ keys: keys.map((key) => keyDocument(key, principal.id)) }, headings, rows);
    context.output.footer(
      rows.length === 0
        ? "no keys; to create one: runtimectl keys create --role editor"
        : `${pluralize(rows.length, "key")} · you are signed in with ${principal.isRoot ? "the root key" : `key ${principal.id}, ${sanitizeForTerminal(principal.name)}`}`,
    );
  },
});
