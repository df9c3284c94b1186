import { defaultOverlap, parseOverlapMs, rotate } from "../../../shared/contract/keys.js";
import { show } from "../../../shared/contract/session.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { endOn, timeFields } from "../../output/format.js";
import { confirmDestruction } from "../../output/prompts.js";
import { outOption, showNewKey, newKeyFields } from "./new-key-output.js";
import { parseKeyId } from "./key-id.js";

interface Options {
  readonly overlap?: string;
  readonly out?: string;
}

export const command = defineCommand<[id: string], Options>({
  arguments: [{ syntax: "<id>", description: "The key's id, from runtimectl keys list" }],
  options: [
    {
      flags: "--overlap <duration>",
      description: `Grace period of the old key: 30m, 24h, 7d, up to 30d, or 0 (default: ${defaultOverlap})`,
    },
    outOption,
  ],
  fields: [...newKeyFields, "rotated"],
  examples: [
    ["runtimectl keys rotate 7 --out ci.key", "write the replacement to a file; key 7 expires in 24 hours"],
    ["runtimectl keys rotate 7 --overlap 7d", "use a grace period of 7 days"],
    ["runtimectl keys rotate 7 --overlap 0 --yes", "revoke key 7 immediately"],
  ],
  notes:
    "The replacement key has the name, role, permissions, namespaces and lifetime of the old key. It is shown once.\n" +
    "The grace period never extends the expiry of the old key. To rotate your own key, use a grace period above 0.",
  async run(context, [text], { overlap = defaultOverlap, out }) {
    const id = parseKeyId(text);
    const overlapMs = parseOverlapMs(overlap);
    if (overlapMs === undefined)
      throw usageError(`--overlap ${JSON.stringify(overlap)} is neither 0 nor a duration of at most 30 days`, "--overlap 24h");
    const { client, origin, settings } = await connect(context, { keys: { rotate }, session: { show } });
    if (overlapMs === 0) await confirmDestruction(context, { consequence: `Revoke key ${id} immediately`, name: text, settings });
    const { principal } = await client.session.show();
    await showNewKey(context, {
      make: async () => (await client.keys.rotate({ params: { id: text }, body: { overlap } })).data,
      out,
      origin,
      more: ({ rotated }) => ({
        fields: { rotated: { id: rotated.id, ...timeFields("expiresAt", rotated.expiresAt) } },
        note:
          `it replaces key ${id}, which ${overlapMs === 0 ? "is revoked" : `expires ${endOn(rotated.expiresAt, Date.now())}`}` +
          (id === principal.id
            ? "; you are signed in with the old key: before it expires, run runtimectl auth login with the new key"
            : ""),
      }),
    });
  },
});
