import { EventEmitter } from "node:events";
import path from "node:path";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { CommandError } from "../../src/cli/command/command-error.js";
import type { Context } from "../../src/cli/command/command.js";
import type { connect } from "../../src/cli/client/connection.js";
import type { Environment } from "../../src/cli/config/environment.js";
import { exitCodes } from "../../src/cli/command/exit-codes.js";
import { Output } from "../../src/cli/output/output.js";
import { resolveSettings } from "../../src/cli/config/settings.js";
import type { DashboardHost } from "../../src/cli/dashboard/dashboard-host.js";
import { openDashboard } from "../../src/cli/dashboard/open-dashboard.js";
import { openTerminal } from "../../src/cli/output/terminal.js";
import { userDirectories } from "../../src/cli/config/user-directories.js";
import { createClient } from "../../src/shared/client.js";
import { runtime } from "../../src/shared/contract/discovery.js";
import { createTestIo } from "./create-test-io.js";
import { principal } from "./fake-daemon.js";
import { FakeTransport, type Answers } from "./fake-transport.js";
import { temporaryDirectory } from "./temporary-directory.js";
import { VirtualScreen } from "./virtual-screen.js";
import { writeTree } from "./write-tree.js";

/** URL of the daemon in the dashboard's settings. */
export const daemonUrl = "http://daemon.test";

const signedIn: Environment = { RUNTIMECTL_URL: daemonUrl, RUNTIMECTL_KEY: "a-key-of-a-test" };

export interface DashboardSetup {
  readonly screen?: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly isReadOnly?: boolean;
  readonly isAccessible?: boolean;
  readonly refreshMs?: number;
  /** Content of config.yaml. */
  readonly config?: string;
  /** Environment variables of runtimectl. Default: the URL and a key of the daemon. */
  readonly environment?: Environment;
  /** Files of the working directory: path → content. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The dashboard in this process, on a fake transport and a terminal without a window. */
export class RenderedDashboard {
  readonly transport: FakeTransport;
  readonly screen: VirtualScreen;
  readonly directory: string;
  /** Resolves when the user quits. Rejects with the failure that ended the dashboard. */
  readonly ended: Promise<void>;
  readonly #stdin = Object.assign(new PassThrough(), {
    setRawMode(isRaw: boolean) {
      return Object.assign(this, { isRaw });
    },
  });
  readonly #stdout: EventEmitter & { columns: number; rows: number; write: (text: string) => boolean };
  readonly #events = new EventEmitter();
  readonly #host: DashboardHost;
  #hangUps = 0;
  #stops = 0;

  constructor(transport: FakeTransport, directory: string, setup: DashboardSetup) {
    const { columns = 80, rows = 24 } = setup;
    this.transport = transport;
    this.directory = directory;
    this.screen = new VirtualScreen({ columns, rows, convertsLineFeeds: true });
    const write = (text: string) => {
      this.screen.write(text);
      return true;
    };
    this.#stdout = Object.assign(new EventEmitter(), { columns, rows, write });
    this.#host = {
      stdin: this.#stdin as unknown as DashboardHost["stdin"],
      stdout: this.#stdout,
      events: this.#events,
      writeNow: write,
      onTerminalClosed: () => (this.#hangUps += 1),
      stop: () => (this.#stops += 1),
      connect: connectOver(transport),
    };
    const end = new AbortController();
    const options = {
      screen: setup.screen,
      isReadOnly: setup.isReadOnly ?? false,
      refreshMs: setup.refreshMs,
      isAccessible: setup.isAccessible,
    };
    const opened = openDashboard(contextOf(setup, directory, end.signal), options, this.#host);
    this.ended = opened.finally(() => this.screen.drained());
    onTestFinished(async () => {
      end.abort(new Error("the test has finished"));
      await this.ended.catch(() => undefined);
    });
  }

  /** Number of times that the dashboard reacted to a closed terminal, and that it stopped for the shell. */
  get signals(): { readonly hangUps: number; readonly stops: number } {
    return { hangUps: this.#hangUps, stops: this.#stops };
  }

  press(bytes: string): void {
    this.#stdin.write(bytes);
  }

  /** Pastes a text as a terminal does: with marks if the dashboard requested them. */
  paste(text: string): void {
    this.press(this.screen.isPasteMarked ? `\u001b[200~${text}\u001b[201~` : text);
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    Object.assign(this.#stdout, { columns, rows });
    this.#stdout.emit("resize");
    this.#events.emit("SIGWINCH");
  }

  /** Ends the input, as a closed terminal does. */
  closeTerminal(): void {
    this.#stdin.end();
  }

  text(): string {
    return this.screen.text();
  }

  async waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    const failed = this.ended.then(
      () => new Promise<void>(() => {}),
      (error: unknown) => Promise.reject(error),
    );
    await Promise.race([this.screen.waitFor(expected), failed]);
  }
}

/** Opens the dashboard on a daemon with these responses. The test's end closes it. */
export async function renderDashboard(answers: Answers = {}, setup: DashboardSetup = {}): Promise<RenderedDashboard> {
  const directory = await temporaryDirectory();
  await writeTree(directory, { ...setup.files, ...(setup.config === undefined ? {} : { "config/config.yaml": setup.config }) });
  return new RenderedDashboard(new FakeTransport(answers), directory, setup);
}

/** Returns the daemon's response about a key with these permissions. */
export function sessionOf(permissions: readonly string[], about: Readonly<Record<string, unknown>> = {}): unknown {
  return { authenticated: true, principal: { ...principal, permissions, ...about } };
}

/** Returns the failure of a call while the daemon is unreachable. */
export function unreachable(): Error {
  return new CommandError("UNREACHABLE", `cannot reach ${daemonUrl}`, { exitCode: exitCodes.unavailable });
}

/** Opens a connection as the command line does, but through this transport and without discovery. */
function connectOver({ send }: FakeTransport): typeof connect {
  return async (context, offered) => {
    const settings = await resolveSettings(context);
    const anonymous = createClient(send, "", { discovery: { runtime } });
    return {
      settings,
      origin: settings.origin.value,
      discover: () => anonymous.discovery.runtime(),
      client: createClient(send, "/api", offered),
      call: () => Promise.reject(new Error("the dashboard uses the typed client only")),
    };
  };
}

function contextOf({ environment = signedIn }: DashboardSetup, directory: string, signal: AbortSignal): Context {
  const variables = { HOME: directory, RUNTIMECTL_CONFIG_DIR: path.join(directory, "config"), ...environment };
  const io = createTestIo({ isTerminal: true, columns: 80 });
  const terminal = openTerminal(io, variables, true);
  return {
    flags: { color: false, input: true },
    environment: variables,
    variables,
    directories: userDirectories(variables),
    output: new Output(terminal, { format: "table" }),
    io,
    terminal,
    workingDirectory: directory,
    signal,
    onExit: () => {},
  };
}
