import { useCompileCache } from "./compile-cache.js";
import { matchCommand } from "./command/find-command.js";
import { SignalHandler } from "./command/signal-handler.js";
import { processIo } from "./output/process-io.js";
import { runCli } from "./run-cli.js";

const argv = process.argv.slice(2);
// Does not enable the compile cache for help, because help loads no further module.
if (matchCommand(argv).kind !== "help") useCompileCache();
const { signal, onExit } = new SignalHandler();
// The handler stays registered until exit, because Node's own report of an uncaught error could print secrets in the error.
const crashed = new Promise<never>((_resolve, reject) => process.on("uncaughtException", reject));
const exitCode = await runCli({ argv, env: process.env, cwd: process.cwd(), io: processIo(), signal, onExit, crashed });
// Exits without waiting for open connections or timers, because all output has been written.
process.exit(exitCode);
