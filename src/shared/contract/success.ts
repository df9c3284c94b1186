import * as z from "zod";

/** The body of a change that has nothing to report. */
export const Success = z.object({ success: z.literal(true) });

/** The body of a change that reports its outcome. */
export const successOf = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data });
