import * as z from "zod";
import { parsePastTimeMs } from "../past-time.js";

const forms = "a duration such as `10m`, a Unix time in seconds or milliseconds, or a time of RFC 3339";

function pastTime() {
  return z.string().refine((text) => parsePastTimeMs(text, 0) !== undefined, `is not ${forms.replaceAll("`", "")}`);
}

/** The `since` query parameter: the start of the selected period. */
export const sinceQuery = { since: pastTime().optional().describe(`Not older than ${forms}`) };

/** The `until` query parameter: the end of the selected period. */
export const untilQuery = { until: pastTime().optional().describe(`Older than ${forms}`) };
