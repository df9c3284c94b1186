import { setTimeout as delay } from "node:timers/promises";
import { readCommandLine } from "./command-line.js";
import { ConfigError } from "./config/config-error.js";
import { configWarnings } from "./config/config-warnings.js";
import { readConfig, type Config } from "./config/config.js";
import { Daemon } from "./daemon.js";
import { AdminListenError, type Origins } from "./listeners.js";
import { disablePretenuring, raiseHeapGrowthLimit } from "./v8-tuning.js";
import { nextSteps } from "./next-steps.js";
import { NewerStateError } from "./config/newer-state-error.js";
import { createLog, readableForm, LogLevel } from "./log/log.js";
import { LogOutput } from "./log/log-output.js";
import { makeOwnRootKey, ownRootKeyFile } from "./config/root-key.js";
import { openNotifyChannel, ServiceManager } from "./systemd/notify.js";
import { serviceVariables } from "./config/service-environment.js";
import { DirectoryInUseError } from "./packages/transactions/directory-lock.js";
import { supervise } from "./systemd/supervise.js";
import { UnknownSecretsKeyError } from "./secrets/unknown-secrets-key-error.js";
import { MissingSandboxError } from "./workers/sandbox/isolation-layers.js";

/**
 * Exit status `EX_CONFIG` (sysexits.h) for an error that a restart does not solve. The systemd units do not restart the daemon after this
 * status.
 */
const finalFailureStatus = 78;
const finalFailures = [ConfigError, DirectoryInUseError, NewerStateError, MissingSandboxError, UnknownSecretsKeyError];
/** Maximum time that the program waits for the log entry about isolation layers, which must precede the printed next steps. */
const longestWaitMs = 2000;
/** Exit status for invalid arguments, the same as in runtimectl. */
const usageStatus = 2;
/**
 * Environment variables that contain a secret or the path of a secret. The daemon removes these variables before it runs the code of
 * workers or plugins.
 */
const secretVariables = [
  "RUNTIME_ROOT_KEY",
  "RUNTIME_ROOT_KEY_FILE",
  "CREDENTIALS_DIRECTORY",
  "RUNTIME_SECRETS_KEY_FILE",
  "RUNTIME_AUTH_DB_SYNC_TOKEN",
  "RUNTIME_AUTH_DB_SYNC_TOKEN_FILE",
];

/** Runs the program `runtimed`: the daemon, or the action that its arguments select. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const commandLine = readCommandLine(words);
  if (commandLine.kind === "run") {
    await runDaemon({ printsNextSteps: true });
  } else if (commandLine.kind === "print") process.stdout.write(commandLine.text);
  else {
    process.stderr.write(commandLine.text);
    process.exitCode = usageStatus;
  }
}

function firstCommands({ admin }: Origins, keyFile: string): string[] {
  return [`runtimectl auth login --url ${admin} --key-file '${keyFile}'`, "runtimectl init hello && runtimectl deploy hello"];
}

/**
 * Runs the daemon until a signal stops it. Resolves with the origins of the listeners when the daemon is ready. If the start fails, exits
 * the process.
 */
export async function runDaemon({ printsNextSteps }: { printsNextSteps: boolean }): Promise<Origins> {
  const environment = { ...process.env };
  const config = await readConfigOrExit();
  for (const name of [...secretVariables, ...serviceVariables]) delete process.env[name];
  const level = new LogLevel();
  const form = config.prettyLog ? await readableForm() : undefined;
  const output = new LogOutput();
  const log = createLog({ level: config.logLevel, output, form, onChild: level.noteChild });
  level.of(log);
  for (const warning of configWarnings(environment, config)) log.warn(warning);
  const daemon = new Daemon(config, log);
  const manager = new ServiceManager(await openNotifyChannel(config.service.notifySocket, log));
  const end = (status: number) => output.end().then(() => process.exit(status));
  const supervised = supervise({ daemon, manager, level, config, log });
  const stop = once(async (signal: string) => {
    log.info({ signal }, "stopping");
    supervised.end();
    manager.stopping();
    await daemon.stop();
    log.info("stopped");
    await end(0);
  });
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("uncaughtException", (error) => {
    if (daemon.isFaultOfPlugin(error)) {
      log.error({ err: error }, "plugin failed outside of its hooks");
      return;
    }
    log.fatal({ err: error }, "uncaught error; the daemon exits");
    void end(1);
  });
  // Stops the daemon at SIGHUP if stdout is a terminal, because SIGHUP then means that the terminal was closed.
  if (config.prettyLog) process.on("SIGHUP", stop);
  try {
    const origins = await daemon.start();
    supervised.begin();
    disablePretenuring();
    raiseHeapGrowthLimit();
    const keyFile = config.rootKeyFile?.file;
    if (printsNextSteps && config.prettyLog && keyFile === ownRootKeyFile(config.stateDirectory).file) {
      // Waits for the log entries of the start, so that the next steps are printed after them.
      await Promise.race([daemon.isolationLogged, delay(longestWaitMs)]);
      output.write(nextSteps(origins, { panelHost: config.panelHost, keyFile, next: firstCommands(origins, keyFile) }));
    }
    return origins;
  } catch (error) {
    process.stderr.write(`runtimed: ${explain(error, config)}\n`);
    return await end(finalFailures.some((kind) => error instanceof kind) ? finalFailureStatus : 1);
  }
}

/**
 * Reads the configuration. If no root key is configured and stdout is a terminal, creates a root key. If the configuration is invalid,
 * exits the process.
 */
async function readConfigOrExit(): Promise<Config> {
  try {
    const config = readConfig(process.env, { pid: process.pid, cwd: process.cwd(), stdoutIsTerminal: process.stdout.isTTY });
    return config.rootKey === undefined && config.prettyLog ? await makeOwnRootKey(config) : config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`runtimed: ${error.message}\n`);
    return process.exit(finalFailureStatus);
  }
}

function explain(error: unknown, config: Config): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (config.service.listenFds.length > 0 && (code === "EINVAL" || code === "ERR_INVALID_FD_TYPE"))
    return `an inherited file descriptor (LISTEN_FDS) is not a listening stream socket; check the socket unit.`;
  const admin = error instanceof AdminListenError ? config.adminListener : undefined;
  const { hosts, port } = admin ?? config;
  const [host = ""] = hosts;
  const prefix = admin ? "RUNTIME_ADMIN_" : "";
  if (code === "EADDRINUSE")
    return `${host}:${port} is in use by another program; stop that program, or set ${prefix}PORT to another port (0 = any free port).`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EADDRNOTAVAIL")
    return `${host} is not an address of this machine; set ${prefix}HOST to a local address, such as 127.0.0.1 or 0.0.0.0.`;
  if (code === "EACCES") return `${message}. Give the user of runtimed access, or configure other directories or another port.`;
  return message;
}

function once<Argument>(action: (argument: Argument) => Promise<void>): (argument: Argument) => void {
  let isCalled = false;
  return (argument) => {
    if (isCalled) return;
    isCalled = true;
    void action(argument);
  };
}
