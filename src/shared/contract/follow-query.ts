import * as z from "zod";

/** The query parameter of an operation that returns a result or streams events. */
export const followQuery = {
  follow: z.enum(["0", "1"]).optional().describe("`1`: respond with server-sent events: first the matching entries, then new ones"),
};
