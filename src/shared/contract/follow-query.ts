import * as z from "zod";

/** The `follow` query parameter. Operations that return a result or stream events accept it. */
export const followQuery = {
  follow: z.enum(["0", "1"]).optional().describe("`1`: respond with server-sent events: first the matching entries, then new ones"),
};
