import * as z from "zod";

/** The query parameter of an operation that answers with `result` or follows as events. */
export const followQuery = {
  follow: z.enum(["0", "1"]).optional().describe("`1`: answer with server-sent events, first those that fit, then those to come"),
};
