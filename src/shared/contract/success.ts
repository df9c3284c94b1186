import * as z from "zod";

/** The response body of a successful change that returns no data. */
export const Success = z.object({ success: z.literal(true) });

/** Returns the schema of the response body of a successful change that returns `data`. */
export const successOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });
