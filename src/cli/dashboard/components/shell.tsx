import { repeatFlags } from "../../command/repeated-flags.js";
import { Box } from "ink";
import { useMemo, useState, useSyncExternalStore } from "react";
import { useDashboard, NavigationContext, type Navigation } from "../session/hooks.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { SizeContext, useSize } from "../terminal/terminal-size.js";
import { innerScreens, screens, tabOf, type ScreenId } from "../screens.js";
import type { Session } from "../session/session.js";
import { Footer, Header, StatusLine, Tabs } from "./status-bar.js";
import { OverlayView } from "./overlay-view.js";
import { SafeText } from "./safe-text.js";

/** Number of rows that header, tabs, status line and footer need together. */
const frameRows = 4;

interface Props {
  readonly firstScreen: ScreenId;
  readonly session: Session | undefined;
}

/** Shows header and tabs above the current screen or overlay, and status line and footer below. */
export function Shell({ firstScreen, session }: Props) {
  const dashboard = useDashboard();
  const { overlays } = dashboard;
  const { columns, rows } = useSize();
  const { overlay } = useSyncExternalStore(overlays.subscribe, overlays.state);
  const [wanted, setWanted] = useState<{ screen: ScreenId; subject: string | undefined }>({ screen: firstScreen, subject: undefined });
  const navigation: Navigation = useMemo(
    () => ({ subject: wanted.subject, show: (screen, subject) => setWanted({ screen, subject }) }),
    [wanted.subject],
  );
  const current: ScreenId = session ? wanted.screen : "connect";
  useKeyScope({ handlers: useShellKeys(current, session, navigation.show) });
  const { component: Screen } = [...screens, ...innerScreens].find(({ id }) => id === current) ?? screens[0];
  const body = { columns, rows: rows - frameRows };
  return (
    <Box flexDirection="column" width={columns} height={rows} overflowY="hidden">
      {session ? <Header /> : <SafeText bold>runtimectl not connected</SafeText>}
      <Tabs current={tabOf(current)} />
      <SizeContext.Provider value={body}>
        <NavigationContext.Provider value={navigation}>
          <Box flexDirection="column" height={body.rows} flexShrink={0} overflowY="hidden" display={overlay ? "none" : "flex"}>
            <Screen key={session?.id ?? ""} />
          </Box>
          {overlay && (
            <Box flexDirection="column" height={body.rows} flexShrink={0} overflowY="hidden">
              <OverlayView overlay={overlay} session={session} />
            </Box>
          )}
        </NavigationContext.Provider>
      </SizeContext.Provider>
      <StatusLine />
      <Footer />
    </Box>
  );
}

/** Returns the handlers of the shortcuts that work on every screen. */
function useShellKeys(current: ScreenId, session: Session | undefined, show: (screen: ScreenId) => void): Handlers {
  const { overlays, dispatcher, undo, quit } = useDashboard();
  const always: Handlers = { help: () => overlays.show({ kind: "help", valid: dispatcher.valid() }), quit };
  if (session === undefined) return always;
  const step = (by: number) => {
    const index = screens.findIndex(({ id }) => id === tabOf(current));
    show(screens[(index + by + screens.length) % screens.length]?.id ?? current);
  };
  return {
    ...always,
    ...Object.fromEntries(screens.map(({ id, action }) => [action, () => show(id)])),
    "screen.next": () => step(1),
    "screen.previous": () => step(-1),
    palette: () => overlays.show({ kind: "palette" }),
    commandLine: () =>
      overlays.show({
        kind: "lines",
        title: "Equivalent commands",
        lines: dispatcher.lines().map((line) => repeatFlags(line, session.context.flags)),
      }),
    refresh: () => session.live.refresh(),
    ...(undo.isPossible ? { undo: () => void undo.run() } : {}),
  };
}
