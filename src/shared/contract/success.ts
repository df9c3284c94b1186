import * as z from "zod";

/** The response body of a change that succeeds and returns no data. */
export const Success = z.object({ success: z.literal(true) });

/** Returns the schema of the response body of a change that succeeds and returns `data`. */
export const successOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });
