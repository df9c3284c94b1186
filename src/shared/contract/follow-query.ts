import * as z from "zod";

/** The query parameter `follow`. With `follow=1`, an operation streams new events in place of stored entries. */
export const followQuery = {
  follow: z.enum(["0", "1"]).optional().describe("`1`: respond with server-sent events: first the matching entries, then new ones"),
};
