import { rmSync } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import path from "node:path";
import { createClient } from "../../shared/client.js";
import { removeVersion, upload } from "../../shared/contract/worker-changes.js";
import { CommandError } from "../command/command-error.js";
import { defineCommand, type Context } from "../command/command.js";
import { DevDaemon, daemonEnded, choosePort, type Answered } from "../dev/dev-daemon.js";
import { listenForKeys, describeResponse, describeLogLine } from "../dev/dev-terminal.js";
import { Reloader, type Served } from "../dev/reloader.js";
import { parseExternals } from "../pack/external-packages.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import { HttpTransport } from "../client/http-transport.js";

const apiBase = "/api";
const callTimeoutMs = 120_000;

interface Options {
  readonly port?: string;
  readonly host?: string;
  readonly bundle?: boolean;
  readonly external?: readonly string[];
  readonly varsFile?: string;
}

export const command = defineCommand<[folder: string], Options>({
  arguments: [{ syntax: "[path]", description: "The worker's folder (default: .)", default: "." }],
  options: [
    { flags: "--port <port>", description: "Listen on this port (default: 8787 or the next free port; 0 = any)" },
    { flags: "--host <address>", description: "Listen on this address (default: 127.0.0.1)" },
    { flags: "--bundle", description: "Bundle the code and its imports into one file, like upload --bundle" },
    {
      flags: "--external <name>",
      description: "With --bundle: pack this package and its dependencies in node_modules; repeatable",
      repeatable: true,
    },
    { flags: "--vars-file <file>", description: "Also set the variables in this file" },
  ],
  examples: [
    ["runtimectl dev", "serve this folder, print its URL and show its output"],
    ["runtimectl dev ./dir --bundle", "bundle TypeScript or JavaScript with dependencies"],
    ["runtimectl dev --port 3000", "use another port"],
  ],
  notes:
    "Starts a temporary daemon that serves the folder, packed like an upload. Requires no other daemon, no profile and no key.\n" +
    "Each change reloads the worker. If the code cannot be loaded, the error is shown and the previous code stays active.\n" +
    "Variables: env of the manifest, then .env and .dev.vars in the folder, then --vars-file; the last one wins. No such file is ever packed.\n" +
    "The variables of these files also stand for the secrets that the manifest lists.\n" +
    "The URL goes to stdout. Worker output, requests and reloads go to stderr. Keys: r reload, o open the browser, c clear, q quit.",
  async run(context, [given], options) {
    const externals = parseExternals(options);
    const folder = await findFolder(context, given);
    const { port, taken } = await choosePort(options.host ?? "127.0.0.1", options.port);
    const directory = await mkdtemp(path.join(context.directories.temporary, "runtimectl-dev-"));
    context.onExit(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 }));
    const daemon = await startDaemon(context, { directory, host: options.host ?? "127.0.0.1", port });
    if (taken !== undefined) context.output.note(`port ${taken} is in use; using ${new URL(daemon.origin).port}`);
    return await serve(context, daemon, { folder, directory, externals, options });
  },
});

async function findFolder({ workingDirectory }: Context, given: string): Promise<string> {
  const folder = path.resolve(workingDirectory, given);
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory()) return folder;
  throw new CommandError("PATH_NOT_FOUND", stats ? `${given} is not a folder` : `${given} does not exist`, {
    exitCode: exitCodes.notFound,
  });
}

async function startDaemon(context: Context, place: { directory: string; host: string; port: number }): Promise<DevDaemon> {
  const daemon = await DevDaemon.start({
    ...place,
    variables: context.variables,
    onLine: (line) => noteIfAny(context, describeLogLine(line)),
    onAnswered: (answered) => noteIfAny(context, ofWorker(answered) ? describeResponse(answered) : undefined),
  });
  context.onExit(() => daemon.kill());
  return daemon;
}

function noteIfAny({ output }: Context, text: string | undefined): void {
  if (text !== undefined) output.note(text);
}

/** Whether the worker served the request. All other requests are API requests of `runtimectl dev` itself. */
function ofWorker({ target }: Answered): boolean {
  return !target.startsWith(`${apiBase}/`);
}

/** Serves the worker until the user quits, a signal arrives or the daemon fails. Resolves with the exit code of the command. */
async function serve(
  context: Context,
  daemon: DevDaemon,
  { folder, directory, externals, options }: { folder: string; directory: string; externals: readonly string[]; options: Options },
): Promise<ExitCode> {
  const { output, signal, terminal, flags, workingDirectory } = context;
  const origin = reachable(daemon.origin);
  let url: string | undefined;
  const onServed = ({ name, version }: Served, { tookMs, isFirst }: { tookMs: number; isFirst: boolean }) => {
    const before = url;
    url = `${origin}/${name}/`;
    if (isFirst) output.result({ name, version, url }, url);
    else output.note(`reloaded in ${tookMs} ms${before === url ? "" : `; the new URL is ${url}`}`);
  };
  let reloader: Reloader | undefined;
  const ended = new Promise<ExitCode>((resolve, reject) => {
    reloader = new Reloader({
      context,
      folder,
      directory,
      bundle: options.bundle ?? false,
      externals,
      varsFile: options.varsFile === undefined ? undefined : path.resolve(workingDirectory, options.varsFile),
      client: clientOf(context, daemon),
      onServed,
      onHopeless: reject,
    });
    const interrupt = () => resolve(signal.reason instanceof CommandError ? signal.reason.exitCode : exitCodes.interrupted);
    signal.addEventListener("abort", interrupt);
    if (signal.aborted) interrupt();
    void daemon.ended.then((words) => reject(daemonEnded(words)));
    if (terminal.stdinIsTty && terminal.stderrIsTty && flags.input) {
      output.note("keys: r reload, o open the browser, c clear, q quit");
      listenForKeys(context, { reload: () => reloader?.request("forced"), quit: () => resolve(exitCodes.ok), url: () => url });
    }
    reloader.request("changed");
  });
  try {
    return await ended;
  } finally {
    // Stops the daemon, so that a running reload fails. Then waits until the reload has ended, because the caller deletes the temporary
    // folder into which the reload writes.
    const closed = reloader?.close();
    await daemon.stop();
    await closed;
  }
}

/** Returns an origin to which a client can connect. Replaces a wildcard address such as `0.0.0.0` with the loopback address. */
function reachable(origin: string): string {
  return origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function clientOf({ signal, output, onExit }: Context, daemon: DevDaemon) {
  const transport = new HttpTransport({
    origin: reachable(daemon.origin),
    settings: {
      certificateAuthorities: undefined,
      insecure: false,
      proxy: undefined,
      timeout: { value: callTimeoutMs, source: "default" },
    },
    signal,
    trace: (line) => output.trace(line),
  });
  onExit(() => transport.close());
  return createClient((request) => transport.send(request, daemon.rootKey), apiBase, { workers: { upload, removeVersion } });
}
