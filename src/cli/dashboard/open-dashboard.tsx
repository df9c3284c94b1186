import { render } from "ink";
import { parseDurationMs } from "../../shared/duration.js";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { Ui } from "../config/config-file.js";
import { readProfiles } from "../config/read-profiles.js";
import { App } from "./app.js";
import { clipboardSequence } from "./terminal/clipboard-sequence.js";
import { processHost, type DashboardHost } from "./dashboard-host.js";
import type { Dashboard } from "./dashboard.js";
import { FullScreen } from "./terminal/full-screen.js";
import { KeyDispatcher } from "./keyboard/key-dispatcher.js";
import { Keyboard } from "./keyboard/keyboard.js";
import { Keymap } from "./keyboard/keymap.js";
import { Overlays } from "./components/overlays.js";
import { PaletteHistory } from "./palette/palette-history.js";
import { TerminalPainter } from "./terminal/terminal-painter.js";
import { screens, type ScreenId } from "./screens.js";
import { Sessions } from "./session/sessions.js";
import { TerminalSize } from "./terminal/terminal-size.js";
import { Undo } from "./actions/action.js";

const defaultRefreshMs = 2000;

export interface DashboardOptions {
  readonly screen: string | undefined;
  readonly isReadOnly: boolean;
  readonly refreshMs: number | undefined;
  readonly isAccessible: boolean | undefined;
}

/** Shows the dashboard until the user quits. Restores the terminal in every case, also after an error. */
export async function openDashboard(outer: Context, options: DashboardOptions, host: DashboardHost = processHost()): Promise<void> {
  const context = { ...outer, isReadOnly: options.isReadOnly };
  const { ui } = await readProfiles(context.directories.config);
  const keymap = new Keymap(ui?.keys);
  const firstScreen = screenNamed(options.screen ?? "overview");
  const sessions = new Sessions(context, {
    refreshMs: options.refreshMs ?? refreshOf(ui) ?? defaultRefreshMs,
    connect: host.connect,
  });
  const isAccessible = options.isAccessible ?? (context.environment.INK_SCREEN_READER === "true" || (ui?.accessible ?? false));
  await sessions.open();
  const closing = new AbortController();
  const ended = new Promise<void>((resolve, reject) => {
    closing.signal.addEventListener("abort", () => resolve());
    context.signal.addEventListener("abort", () => reject(context.signal.reason as Error));
  });
  const dashboard: Dashboard = {
    context,
    keymap,
    sessions,
    copy: (text) => void host.stdout.write(clipboardSequence(text)),
    quit: () => closing.abort(),
    isReadOnly: options.isReadOnly,
    isAccessible,
    dispatcher: new KeyDispatcher(keymap),
    overlays: new Overlays(),
    undo: new Undo(),
    history: new PaletteHistory(),
  };
  try {
    await draw(dashboard, { host, firstScreen, isAccessible, ended });
  } finally {
    sessions.close();
  }
}

interface Drawing {
  readonly host: DashboardHost;
  readonly firstScreen: ScreenId;
  readonly isAccessible: boolean;
  readonly ended: Promise<void>;
}

/** Renders the dashboard until `ended` resolves, or until rendering fails. */
async function draw(dashboard: Dashboard, { host, firstScreen, isAccessible, ended }: Drawing): Promise<void> {
  const painter = new TerminalPainter(host.stdout);
  const terminalSize = new TerminalSize(host.stdout);
  const keyboard = new Keyboard(host.stdin, host.onTerminalClosed);
  host.stdout.on("error", host.onTerminalClosed);
  const fullScreen = new FullScreen({
    host,
    usesAlternateScreen: !isAccessible,
    onEnter: () => {
      keyboard.start();
      painter.resume();
    },
    onLeave: () => {
      painter.pause();
      keyboard.stop();
    },
  });
  dashboard.context.onExit(() => fullScreen.leave());
  fullScreen.enter();
  // Redraws on SIGWINCH. If a window returns to its previous size, Node.js emits no `resize`, although the terminal has moved the screen
  // content.
  host.events.on("SIGWINCH", () => painter.repaint());
  const app = <App {...{ dashboard, firstScreen, terminalSize, keyboard }} onSuspend={() => fullScreen.suspend()} />;
  const ink = render(app, {
    stdout: (isAccessible ? host.stdout : painter) as unknown as NodeJS.WriteStream,
    ...(isAccessible ? { isScreenReaderEnabled: true } : { debug: true }),
    exitOnCtrlC: false,
    patchConsole: false,
  });
  try {
    await Promise.race([ended, ink.waitUntilExit()]);
  } finally {
    fullScreen.leave();
    ink.unmount();
  }
}

function screenNamed(name: string): ScreenId {
  const screen = screens.find(({ id }) => id === name);
  if (screen) return screen.id;
  throw usageError(`there is no screen ${JSON.stringify(name)}`, `use one of ${screens.map(({ id }) => id).join(", ")}`);
}

function refreshOf(ui: Ui | undefined): number | undefined {
  if (ui?.refresh === undefined) return undefined;
  const refreshMs = parseDurationMs(ui.refresh);
  if (refreshMs === undefined || refreshMs < 1000)
    throw usageError(`ui.refresh in config.yaml: ${ui.refresh} is not a duration of at least 1s`, "use a duration such as 2s");
  return refreshMs;
}
