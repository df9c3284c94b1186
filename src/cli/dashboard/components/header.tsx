import { Text } from "ink";
import { useSyncExternalStore } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { endOn } from "../../output/dates.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useQuery } from "../hooks/use-query.js";
import { useSession } from "../hooks/use-session.js";
import { readiness } from "../readiness.js";

/** Where the dashboard looks, and as whom: profile, PRODUCTION, version, ready state, principal, end of the key. */
export function Header() {
  const { isReadOnly } = useDashboard();
  const { settings, live } = useSession();
  const ready = useQuery("readiness", readiness);
  const session = useQuery("session", (client) => client.session.show());
  const contact = useSyncExternalStore(live.subscribe, live.contact);
  const principal = session.value?.principal;
  const state = contact.kind === "live" ? (ready.value?.state ?? "connecting") : contact.kind === "away" ? "away" : "connecting";
  const facts = [
    ...(ready.value?.version === undefined ? [] : [`v${ready.value.version}`]),
    ...(principal ? [`as ${principal.name} (${principal.role})`] : []),
    ...(principal?.expiresAt === undefined ? [] : [`key ends ${endOn(principal.expiresAt, Date.now())}`]),
    ...(isReadOnly ? ["read-only"] : []),
  ];
  // One text, cut at its end: what comes first is never squeezed.
  return (
    <Text wrap="truncate-end">
      <Text bold>{sanitizeForTerminal(`runtimectl ${settings.profile?.value ?? settings.origin.value} `)}</Text>
      {settings.isProduction && (
        <Text bold color="red" inverse>
          PRODUCTION
        </Text>
      )}
      {settings.isProduction && " "}
      <Text color={state === "ready" ? "green" : "yellow"}>{sanitizeForTerminal(state)}</Text>
      {sanitizeForTerminal(facts.map((fact) => ` · ${fact}`).join(""))}
    </Text>
  );
}
