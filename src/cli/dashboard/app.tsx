import { Box, Text } from "ink";
import { useSyncExternalStore } from "react";
import { KeyQueue } from "./keyboard/key-queue.js";
import { Shell } from "./components/shell.js";
import type { Dashboard } from "./dashboard.js";
import { DashboardContext, SessionContext } from "./session/hooks.js";
import { SizeContext, type Size } from "./terminal/terminal-size.js";
import type { Keyboard } from "./keyboard/keyboard.js";
import type { ScreenId } from "./screens.js";

const leastSize: Size = { columns: 60, rows: 15 };

interface Props {
  readonly dashboard: Dashboard;
  readonly firstScreen: ScreenId;
  readonly terminalSize: { readonly subscribe: (listener: () => void) => () => void; readonly current: () => Size };
  readonly keyboard: Keyboard;
  readonly onSuspend: () => void;
}

/**
 * The root component. If the terminal is smaller than the minimum size, hides the screens and shows the minimum size. Hidden screens keep
 * their state.
 */
export function App({ dashboard, firstScreen, terminalSize, keyboard, onSuspend }: Props) {
  const size = useSyncExternalStore(terminalSize.subscribe, terminalSize.current);
  const { sessions } = dashboard;
  const state = useSyncExternalStore(sessions.subscribe, sessions.state);
  const isTooSmall = size.columns < leastSize.columns || size.rows < leastSize.rows;
  // Leaves one row of the terminal unused, because a frame of the full height would scroll the terminal.
  const room = isTooSmall ? leastSize : { columns: size.columns, rows: size.rows - 1 };
  return (
    <DashboardContext.Provider value={dashboard}>
      <SessionContext.Provider value={state.kind === "open" ? state.session : undefined}>
        <SizeContext.Provider value={room}>
          {isTooSmall && (
            <Text>{`the terminal is too small: ${size.columns}x${size.rows}, required ${leastSize.columns}x${leastSize.rows}`}</Text>
          )}
          <Box display={isTooSmall ? "none" : "flex"} width={room.columns} height={room.rows}>
            <Shell firstScreen={firstScreen} session={state.kind === "open" ? state.session : undefined} />
          </Box>
          <KeyQueue keyboard={keyboard} isBlocked={isTooSmall} onSuspend={onSuspend} />
        </SizeContext.Provider>
      </SessionContext.Provider>
    </DashboardContext.Provider>
  );
}
