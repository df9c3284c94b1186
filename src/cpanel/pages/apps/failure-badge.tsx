import { percentOf, requestHealth } from "../../../shared/failure-share.js";
import { Badge } from "../../components/badge.js";

const tones = { ok: "good", degraded: "warn", failing: "bad" } as const;

/** Badge with the share of failed requests. Hidden if fewer than 1 % of the requests failed. */
export function FailureBadge({ share }: { share: number }) {
  const health = requestHealth(share);
  return health === "ok" ? null : <Badge tone={tones[health]}>{percentOf(share)} fail</Badge>;
}
