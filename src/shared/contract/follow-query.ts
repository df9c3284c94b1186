import * as z from "zod";

/** The query parameter `follow` of operations that either return stored entries or stream events. */
export const followQuery = {
  follow: z.enum(["0", "1"]).optional().describe("`1`: respond with server-sent events: first the matching entries, then new ones"),
};
