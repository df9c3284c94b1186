import * as z from "zod";
import { parsePastTimeMs } from "../past-time.js";

const forms = "a duration such as `10m`, a Unix time in seconds or milliseconds, or a time of RFC 3339";

function pastTime() {
  return z.string().refine((text) => parsePastTimeMs(text, 0) !== undefined, `is not ${forms.replaceAll("`", "")}`);
}

/** The query parameter for the start of a period. */
export const sinceQuery = { since: pastTime().optional().describe(`Not older than ${forms}`) };

/** The query parameter for the end of a period. */
export const untilQuery = { until: pastTime().optional().describe(`Older than ${forms}`) };
