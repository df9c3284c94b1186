import { ConfigError, readConfig, type Config } from "./config.js";
import { Daemon } from "./daemon.js";
import { createLog } from "./observe/log.js";

/** `EX_CONFIG` of sysexits.h: systemd is told not to restart after it. */
const badConfigurationStatus = 78;
/** Variables that hold secrets; taken out of the environment before any worker or plugin code runs. */
const secretVariables = ["RUNTIME_ROOT_KEY", "RUNTIME_ROOT_KEY_FILE", "CREDENTIALS_DIRECTORY", "RUNTIME_AUTH_DB_SYNC_TOKEN"];

/** Runs the daemon until a signal ends it; returns its origin once it serves. Exits the process when it cannot start. */
export async function runDaemon(): Promise<string> {
  const config = readConfigOrExit();
  for (const name of secretVariables) delete process.env[name];
  const log = createLog({ level: config.logLevel, pretty: config.prettyLog });
  const daemon = new Daemon(config, log);
  const end = (status: number) => log.flush(() => process.exit(status));
  const stop = once(async (signal: string) => {
    log.info({ signal }, "stopping");
    await daemon.stop();
    log.info("stopped");
    end(0);
  });
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("uncaughtException", (error) => {
    if (daemon.isFaultOfPlugin(error)) {
      log.error({ err: error }, "a plugin failed outside of its hooks");
      return;
    }
    log.fatal({ err: error }, "the daemon failed and ends");
    end(1);
  });
  try {
    return await daemon.start();
  } catch (error) {
    process.stderr.write(`runtimed: ${explain(error, config)}\n`);
    return process.exit(1);
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env, { pid: process.pid, cwd: process.cwd(), stdoutIsTerminal: process.stdout.isTTY });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`runtimed: ${error.message}\n`);
    return process.exit(badConfigurationStatus);
  }
}

function explain(error: unknown, config: Config): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return `${config.host}:${config.port} is in use by another program; stop it, or set PORT to another port (0 = any free one).`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EADDRNOTAVAIL")
    return `${config.host} is no address of this machine; set HOST to one that is, such as 127.0.0.1 or 0.0.0.0.`;
  if (code === "EACCES") return `${message}. Give the user that runs runtimed access, or choose other directories or another port.`;
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
