import * as z from "zod";
import { parseSinceMs } from "../since.js";

/** The query parameter that says from when on. */
export const sinceQuery = {
  since: z
    .string()
    .refine((text) => parseSinceMs(text, 0) !== undefined, "neither a duration such as 10m nor a Unix time in seconds or milliseconds")
    .optional()
    .describe("Not older than a duration such as `10m`, or than a Unix time in seconds or milliseconds"),
};
