import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { freePort } from "../support/free-port.js";
import { runServer } from "./run-server.js";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));

/** A certificate authority with the protocol of Let's Encrypt (RFC 8555). */
export interface AcmeServer {
  /** URL at which clients begin. */
  readonly directory: string;
  /** File with the certificate of the server itself. */
  readonly authority: string;
  /** Returns the log so far, with a line for each order. */
  readonly log: () => string;
}

/** Starts pebble until the test ends. It issues a certificate for any name without a proof of ownership. */
export async function startPebble(): Promise<AcmeServer> {
  const cwd = await temporaryDirectory();
  const port = await freePort();
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    certificate: fixture("certificate"),
    privateKey: fixture("key"),
    httpPort: await freePort(),
    tlsPort: await freePort(),
  };
  await writeFile(path.join(cwd, "pebble.json"), JSON.stringify({ pebble: config }));
  const server = await runServer("pebble", ["-config", "pebble.json"], {
    ready: /Listening on/,
    cwd,
    env: { PEBBLE_VA_ALWAYS_VALID: "1", PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0" },
  });
  return { directory: `https://127.0.0.1:${port}/dir`, authority: fixture("certificate"), log: server.output };
}
