import { createServer } from "node:net";
import { CommandError, usageError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

const usualPort = 8787;
const triedPorts = 100;

/** The port that was asked for, when nothing listens there; without one the usual one, or the next that is free. */
export async function choosePort(host: string, given: string | undefined): Promise<{ port: number; taken: number | undefined }> {
  if (given !== undefined) {
    const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
    if (!(port <= 65_535)) throw usageError(`--port: ${given} is not a port; it takes a number from 0 (any free one) to 65535`);
    if (await isFree(host, port)) return { port, taken: undefined };
    throw new CommandError("PORT_TAKEN", `port ${port} is in use by another program`, {
      exitCode: exitCodes.conflict,
      hint: "choose another one, or leave out --port: then the next free one is taken",
    });
  }
  for (let port = usualPort; port < usualPort + triedPorts; port += 1)
    if (await isFree(host, port)) return { port, taken: port === usualPort ? undefined : usualPort };
  return { port: 0, taken: usualPort };
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(usageError(`--host: ${host} is no address of this machine (${error.code})`));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
