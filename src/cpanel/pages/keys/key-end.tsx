import { Badge } from "../../components/badge.js";
import { EndTime } from "../../components/absolute-time.js";
import { keyState } from "../../../shared/key-state.js";

/** Shows when a key expires. In the last 14 days before the expiry, also shows a badge. */
export function KeyEnd({ expiresAt }: { expiresAt: number | undefined }) {
  if (expiresAt === undefined) return "never";
  const state = keyState({ expiresAt }, Date.now() / 1000);
  return (
    <>
      <EndTime at={expiresAt} /> {state !== "active" && <Badge tone={state === "expired" ? "bad" : "warn"}>{state}</Badge>}
    </>
  );
}
