import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { startFakeDaemon, type FakeDaemon } from "../../support/fake-daemon.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { TerminalWindow, type WindowOptions } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "../cli/shell-session.js";

const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

/** A terminal that is signed in to its own daemon. One worker is installed on this daemon. */
export class DashboardSession {
  readonly daemon: TestDaemon;
  readonly shell: ShellSession;

  private constructor(daemon: TestDaemon, shell: ShellSession) {
    this.daemon = daemon;
    this.shell = shell;
  }

  static async open(): Promise<DashboardSession> {
    const [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
    await writeTree(shell.home, {
      "root.key": daemon.rootKey,
      "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
      // Throws an uncaught error on SIGUSR2.
      "fault.cjs": "process.on('SIGUSR2', () => { throw new Error('a fault of a test'); });",
      "app/index.js": "export default { fetch: () => new Response('app') };",
    });
    for (const words of [`auth login --url ${daemon.url} --key-file root.key`, "workers upload app"]) {
      const run = await shell.run(words);
      if (run.status !== 0) throw new Error(run.stderr);
    }
    return new DashboardSession(daemon, shell);
  }

  /** Opens `runtimectl tui` with these words in a window that closes when the test ends. */
  async tui(words = "", options: Partial<WindowOptions> = {}): Promise<TerminalWindow> {
    return openTui(this.shell, words, options);
  }

  /** Returns the command line of `runtimectl tui` with these words. */
  line(words: string): string {
    return tuiLine(words);
  }

  /** Opens a window with a shell that has job control. */
  async inShell(): Promise<TerminalWindow> {
    const window = await TerminalWindow.open("exec bash --norc -i", { columns: 80, rows: 24, cwd: this.shell.home });
    onTestFinished(() => window.close());
    return window;
  }

  async close(): Promise<void> {
    await this.daemon.dispose();
    await this.shell.close();
  }
}

/** Opens `runtimectl tui` in a window, without a daemon. */
export async function openTui(shell: ShellSession, words: string, options: Partial<WindowOptions> = {}): Promise<TerminalWindow> {
  const window = await TerminalWindow.open(`exec ${tuiLine(words)}`, { columns: 80, rows: 24, cwd: shell.home, ...options });
  onTestFinished(() => window.close());
  return window;
}

/** Responses of a fake daemon by path, command-line words after `tui`, and the size of the window. */
export type Asked = readonly [answers: Readonly<Record<string, unknown>>, words: string, options?: Partial<WindowOptions>];

/** Opens the dashboard on a fake daemon with the given responses. */
export async function openOnFakeDaemon(
  shell: ShellSession,
  ...[answers, words, options = {}]: Asked
): Promise<{ daemon: FakeDaemon; window: TerminalWindow }> {
  const daemon = await startFakeDaemon(answers);
  onTestFinished(() => daemon.close());
  const env = { RUNTIMECTL_URL: daemon.url, RUNTIMECTL_KEY: "a-key-of-a-test", ...options.env };
  return { daemon, window: await openTui(shell, words, { ...options, env }) };
}

function tuiLine(words: string): string {
  return `${process.execPath} ${program} tui ${words}`;
}
