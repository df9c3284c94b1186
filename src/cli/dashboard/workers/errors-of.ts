import type { Totals } from "../../../shared/contract/metrics.js";
import { failureShare, percentOf } from "../../../shared/failure-share.js";
import type { Fact } from "../components/detail.js";

/** Maximum number of error codes shown, the most frequent first. */
const shownCodes = 3;

/**
 * Returns the number of failed requests since the daemon started, the current share of failed requests, and the most frequent error codes.
 */
export function errorsOf({ requests, errors }: Pick<Totals, "requests" | "errors">): Fact {
  const codes = Object.entries(errors.byCode)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, shownCodes)
    .map(([code, count]) => `${code} ${count}`);
  const share = failureShare([requests]);
  const failed = requests.failed === 0 ? [] : [`${requests.failed} failed, ${share === 0 ? "none" : percentOf(share)} now`];
  const parts = [...failed, ...codes];
  return { name: "errors", value: parts.length === 0 ? "none" : parts.join(" · "), ...(share === 0 ? {} : { color: "red" }) };
}
