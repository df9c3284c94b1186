import * as z from "zod";

/** The response body of a change without data. */
export const Success = z.object({ success: z.literal(true) });

/** The response body of a change with data. */
export const successOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });
