import { Text, Box } from "ink";
import { useSyncExternalStore, useContext } from "react";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { endOn } from "../../output/format.js";
import { useDashboard, useSession, SessionContext } from "../session/hooks.js";
import { useQuery, useNow } from "../queries/hooks.js";
import { readiness } from "../overview/readiness.js";
import { useIncidents } from "../overview/use-incidents.js";
import type { Session } from "../session/session.js";
import { SafeText } from "./safe-text.js";
import { actionTable, type ActionId } from "../keyboard/keymap.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";
import { screens, type TabId } from "../screens.js";

const colors = { done: "green", warning: "yellow", failed: "red", note: "cyan" } as const;

/**
 * Shows the profile, a mark for a production profile, the state of the daemon, the number of incidents, the version, and the principal with
 * the expiry of the API key.
 */
export function Header() {
  const { isReadOnly } = useDashboard();
  const { settings, live } = useSession();
  const ready = useQuery("readiness", readiness);
  const session = useQuery("session", (client) => client.session.show());
  const contact = useSyncExternalStore(live.subscribe, live.contact);
  const principal = session.value?.principal;
  const incidentCount = useIncidents()?.length ?? 0;
  const state = contact.kind === "live" ? (ready.value?.state ?? "connecting") : contact.kind === "away" ? "away" : "connecting";
  const facts = [
    ...(isReadOnly ? ["read-only"] : []),
    ...(ready.value?.version === undefined ? [] : [`v${ready.value.version}`]),
    ...(principal ? [`as ${principal.name} (${principal.role})`] : []),
    ...(principal?.expiresAt === undefined ? [] : [`key expires ${endOn(principal.expiresAt, Date.now())}`]),
  ];
  // Renders one text that is truncated at the end, so that the parts at the start stay visible.
  return (
    <Text wrap="truncate-end">
      <Text bold color="cyan">
        {sanitizeForTerminal(`runtimectl ${settings.profile?.value ?? settings.origin.value} `)}
      </Text>
      {settings.isProduction && (
        <Text bold color="red" inverse>
          PRODUCTION
        </Text>
      )}
      {settings.isProduction && " "}
      <Text color={state === "ready" ? "green" : "yellow"}>{sanitizeForTerminal(state)}</Text>
      {incidentCount > 0 && " · "}
      {incidentCount > 0 && <Text bold color="red">{`${incidentCount} need${incidentCount === 1 ? "s" : ""} attention`}</Text>}
      {sanitizeForTerminal(facts.map((fact) => ` · ${fact}`).join(""))}
    </Text>
  );
}

/**
 * Shows the result of the last action above the footer. While the daemon is unreachable, shows for how many seconds, the next attempt and
 * the error.
 */
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
      {`unreachable for ${seconds(now - contact.sinceMs)} s · ${next === 0 ? "retrying" : `next try in ${next} s`} · ${contact.error.message}`}
    </SafeText>
  );
}

function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1000));
}

/** The actions that the footer always contains, at its end. */
const lastActions: readonly ActionId[] = ["help", "quit"];

/** Text between two shortcuts in the footer. */
const gap = "  ";

/** Shows the shortcuts that work now, as many as fit into the width. */
export function Footer() {
  const { keymap, dispatcher } = useDashboard();
  const { columns } = useSize();
  const valid = useSyncExternalStore(dispatcher.subscribe, dispatcher.valid);
  const ids = (Object.keys(actionTable) as ActionId[]).filter((id) => valid.includes(id) && !("isUsual" in actionTable[id]));
  const hintOf = (id: ActionId) => ({ key: keymap.keyOf(id), label: ` ${actionTable[id].label}` });
  const widthOf = ({ key, label }: ReturnType<typeof hintOf>) => key.length + label.length + gap.length;
  const last = ids.filter((id) => lastActions.includes(id)).map((id) => hintOf(id));
  // Adds the width of one gap, because `widthOf` counts a gap before each shortcut and the first shortcut has none.
  let room = columns + gap.length - last.reduce((sum, hint) => sum + widthOf(hint), 0);
  const first = ids
    .filter((id) => !lastActions.includes(id))
    .map((id) => hintOf(id))
    .filter((hint) => (room -= widthOf(hint)) >= 0);
  return (
    <Text wrap="truncate-end">
      {[...first, ...last].map(({ key, label }, index) => (
        <Text key={key}>
          {index > 0 && gap}
          <Text bold>{key}</Text>
          <Text dimColor>{label}</Text>
        </Text>
      ))}
    </Text>
  );
}

/** Terminal width in columns from which there is a gap between two tabs. */
const widestTabs = 100;

/** Shows the names of the screens with their shortcuts, as many as fit. The current screen is inverted and in brackets. */
export function Tabs({ current }: { readonly current: TabId }) {
  const { keymap } = useDashboard();
  const { columns } = useSize();
  if (columns < 80) {
    const keys = screens.map(({ action }) => keymap.keyOf(action)).join(" ");
    const title = screens.find(({ id }) => id === current)?.title ?? "";
    return <Text wrap="truncate-end">{fitted(`[${title}]  screens: ${keys}`, columns)}</Text>;
  }
  const tabs = screens.map(({ id, title, action }) => {
    const text = `${keymap.keyOf(action)} ${title}`;
    return { id, text: id === current ? `[${text}]` : ` ${text} ` };
  });
  return (
    <Box height={1} flexShrink={0} columnGap={columns < widestTabs ? 0 : 1}>
      {fittingTabs(tabs, current, columns).map(({ id, text }) => (
        <Text key={id} wrap="truncate-end" inverse={id === current}>
          {text}
        </Text>
      ))}
    </Box>
  );
}

/** Returns the tabs that fit on the line. Omits tabs from the end of the list, but never the current tab. */
function fittingTabs<Tab extends { readonly id: TabId; readonly text: string }>(
  tabs: readonly Tab[],
  current: TabId,
  columns: number,
): readonly Tab[] {
  const width = tabs.reduce((sum, { text }) => sum + text.length, 0);
  const last = tabs.findLast(({ id }) => id !== current);
  return width <= columns || last === undefined
    ? tabs
    : fittingTabs(
        tabs.filter((tab) => tab !== last),
        current,
        columns,
      );
}
