import { rotateKey } from "../../../shared/contract/secrets.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

export const command = defineCommand<[]>({
  fields: ["keyId", "reencrypted"],
  examples: [["runtimectl secrets rotate-key", "encrypt all secrets of the daemon with a new key"]],
  notes:
    "Values stay the same, and no isolate restarts. The daemon deletes the previous key, so secrets in older backups cannot be decrypted any more: back up afterwards.\n" +
    "If you provide the key (systemd credential secrets-key or RUNTIME_SECRETS_KEY_FILE), put a new key into the line before the old one at each daemon and restart first. Delete the old line afterwards.",
  async run(context) {
    const { client } = await connect(context, { secrets: { rotateKey } });
    const { data } = await client.secrets.rotateKey();
    context.output.note(`encrypted ${pluralize(data.reencrypted, "value")} with the key ${data.keyId}`);
    context.output.result(data);
  },
});
