import { list } from "../../../shared/contract/keys.js";
import { show } from "../../../shared/contract/session.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { ago, endsIn, toDateTime, toMinute } from "../../output/dates.js";
import { exitCodes } from "../../command/exit-codes.js";
import { keyDocument, keyFields } from "./key-document.js";
import { parseKeyId } from "./key-id.js";

export const command = defineCommand<[id: string]>({
  arguments: [{ syntax: "<id>", description: "The key's id, from runtimectl keys list" }],
  fields: keyFields,
  examples: [
    ["runtimectl keys show 7", "what key 7 may do, until when, and when it was last used"],
    ["runtimectl keys show 7 --json | jq -r .expiresAt", "when it ends"],
  ],
  notes: "The key itself is shown only when it is made.",
  async run(context, [text]) {
    const id = parseKeyId(text);
    const { client } = await connect(context, { keys: { list }, session: { show } });
    const [{ keys }, { principal }] = await Promise.all([client.keys.list(), client.session.show()]);
    const key = keys.find((one) => one.id === id);
    if (key === undefined)
      throw new CommandError("KEY_NOT_FOUND", `no active key has the id ${id}`, {
        exitCode: exitCodes.notFound,
        hint: "runtimectl keys list",
      });
    const time = (unixSeconds: number, relative: typeof ago) =>
      context.output.isAligned ? `${toMinute(unixSeconds)} (${relative(unixSeconds, Date.now())})` : toDateTime(unixSeconds);
    context.output.facts(keyDocument(key, principal.id), [
      ["key", `${id}${id === principal.id ? ", the one you sign in with" : ""}`],
      ["name", key.name],
      ["begins with", key.keyPrefix],
      ["role", key.role],
      ["may", key.permissions.join(" ")],
      ["namespaces", key.namespaces.join(" ")],
      ["made", time(key.createdAt, ago)],
      ["last used", key.lastUsedAt === undefined ? "never" : time(key.lastUsedAt, ago)],
      ["ends", key.expiresAt === undefined ? "never" : time(key.expiresAt, endsIn)],
    ]);
  },
});
