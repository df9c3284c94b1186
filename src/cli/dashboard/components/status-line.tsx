import { useContext, useSyncExternalStore } from "react";
import type { Session } from "../session.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useNow } from "../hooks/use-now.js";
import { SessionContext } from "../hooks/use-session.js";
import { SafeText } from "./safe-text.js";

const colors = { done: "green", warning: "yellow", failed: "red", note: "cyan" } as const;

/** One line above the footer: what just happened, or that the daemon is away and since when. */
export function StatusLine() {
  const { overlays } = useDashboard();
  const session = useContext(SessionContext);
  const { toast } = useSyncExternalStore(overlays.subscribe, overlays.state);
  if (toast) return <SafeText color={colors[toast.kind]}>{`${toast.kind}: ${toast.text}`}</SafeText>;
  return session ? <ContactLine session={session} /> : <SafeText> </SafeText>;
}

function ContactLine({ session: { live } }: { readonly session: Session }) {
  const contact = useSyncExternalStore(live.subscribe, live.contact);
  const now = useNow(contact.kind === "away");
  if (contact.kind !== "away") return <SafeText> </SafeText>;
  const next = seconds(contact.nextTryAtMs - now);
  return (
    <SafeText color="yellow">
      {`away for ${seconds(now - contact.sinceMs)} s · ${next === 0 ? "trying now" : `next try in ${next} s`} · ${contact.error.message}`}
    </SafeText>
  );
}

function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1000));
}
