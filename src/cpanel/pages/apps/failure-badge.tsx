import { percentOf, requestHealth } from "../../../shared/failure-share.js";
import { Badge } from "../../components/badge.js";

const tones = { ok: "good", degraded: "warn", failing: "bad" } as const;

/** The color of a version by the share of its requests that fail, 0 to 1. */
export function toneOf(share: number): "good" | "warn" | "bad" {
  return tones[requestHealth(share)];
}

/** Shows nothing while fewer than 1 % of the requests fail. */
export function FailureBadge({ share }: { share: number }) {
  const health = requestHealth(share);
  return health === "ok" ? null : <Badge tone={tones[health]}>{percentOf(share)} fail</Badge>;
}
