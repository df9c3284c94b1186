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
    { flags: "--overlap <duration>", description: `How long the old key still works: 30m, 24h, 7d, 0 (default: ${defaultOverlap})` },
    outOption,
  ],
  fields: [...newKeyFields, "rotated"],
  examples: [
    ["runtimectl keys rotate 7 --out ci.key", "a twin of key 7 in a new file; key 7 ends in 24 hours"],
    ["runtimectl keys rotate 7 --overlap 7d", "with a week to put it in place"],
    ["runtimectl keys rotate 7 --overlap 0 --yes", "key 7 ends at once"],
  ],
  notes:
    "The twin has the name, role, permissions, namespaces and lifetime of the old key. It is shown once.\n" +
    "The old key never ends later than it would have anyway. Your own key can be rotated, too, with an overlap.",
  async run(context, [text], { overlap = defaultOverlap, out }) {
    const id = parseKeyId(text);
    const overlapMs = parseOverlapMs(overlap);
    if (overlapMs === undefined)
      throw usageError(`--overlap ${JSON.stringify(overlap)} is not accepted`, "it takes 30m, 24h, 7d, up to 30d, or 0");
    const { client, origin, settings } = await connect(context, { keys: { rotate }, session: { show } });
    if (overlapMs === 0) await confirmDestruction(context, { consequence: `End key ${id} at once`, name: text, settings });
    const { principal } = await client.session.show();
    await showNewKey(context, {
      make: async () => (await client.keys.rotate({ params: { id: text }, body: { overlap } })).data,
      out,
      origin,
      more: ({ rotated }) => ({
        fields: { rotated: { id: rotated.id, ...timeFields("expiresAt", rotated.expiresAt) } },
        note:
          `it takes the place of key ${id}, which ${overlapMs === 0 ? "has ended" : `ends ${endOn(rotated.expiresAt, Date.now())}`}` +
          (id === principal.id ? "; that is the key you sign in with: before it ends, runtimectl auth login with the new one" : ""),
      }),
    });
  },
});
