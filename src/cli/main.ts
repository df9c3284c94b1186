import { useCompileCache } from "./compile-cache.js";
import { matchCommand } from "./command/find-command.js";
import { SignalHandler } from "./command/signal-handler.js";
import { processIo } from "./output/process-io.js";
import { runCli } from "./run-cli.js";

const argv = process.argv.slice(2);
// Help needs no compile cache, because help loads no further modules.
if (matchCommand(argv).kind !== "help") useCompileCache();
const { signal, onExit } = new SignalHandler();
// Keeps this handler until the process exits. Without it, Node.js would print an uncaught error, and the error could contain secrets.
const crashed = new Promise<never>((_resolve, reject) => process.on("uncaughtException", reject));
const exitCode = await runCli({ argv, env: process.env, cwd: process.cwd(), io: processIo(), signal, onExit, crashed });
// Exits although connections or timers can still be open, because all output has been written.
process.exit(exitCode);
