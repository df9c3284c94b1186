import { spawn } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { runDaemon } from "./main.js";
import { nextSteps } from "./next-steps.js";
import { makeRootKeyFile } from "./config/root-key.js";
import { packageRoot } from "./package-root.js";

/** The program of `npm start`, which runs a daemon. At its first run, it also creates a root key, a `runtimectl` profile and a worker. */
const runtimeDirectory = path.join(packageRoot, ".runtime");
const rootKeyFile = path.join(runtimeDirectory, "root.key");
/** File that exists after the first run of `npm start`. */
const welcomeFile = path.join(runtimeDirectory, "welcomed");
const profile = "local";

process.chdir(packageRoot);
await mkdir(runtimeDirectory, { recursive: true });
await makeRootKeyFile(rootKeyFile);
await chmod(rootKeyFile, 0o600);
process.env["RUNTIME_ROOT_KEY_FILE"] ??= rootKeyFile;
// Allows workers to connect to this machine, because workers in development often use a local database.
process.env["RUNTIME_WORKER_NETWORK_ALLOW"] ??= "loopback";
// A list of allowed host names prevents DNS rebinding attacks of web pages. If the operator chooses the listen address, the daemon has
// other host names, so there is no default.
if (isUnset("HOST") && isUnset("RUNTIME_ADMIN_HOST")) process.env["RUNTIME_ALLOWED_HOSTS"] ??= "localhost,*.localhost,127.0.0.1,::1";
// Each worker has its own host name below `localhost`, which browsers resolve without DNS.
process.env["RUNTIME_APP_DOMAIN"] ??= "localhost";
const keyFile = process.env["RUNTIME_ROOT_KEY_FILE"];
const origins = await runDaemon({ printsNextSteps: false });
await saveProfile(origins.admin, keyFile);
if (await isFirstRun()) await runtimectl("workers", "upload", path.join(packageRoot, "samples/hello"), "--profile", profile, "--quiet");
process.stdout.write(
  nextSteps(origins, {
    panelHost: undefined,
    keyFile: path.relative(packageRoot, keyFile),
    next: [
      "in another terminal:",
      `curl '${origins.address}/hello/?name=you'`,
      `http://hello.localhost:${new URL(origins.address).port}/ is the same worker at a host of its own, in a browser`,
      "npx runtimectl status",
      "npx runtimectl workers upload samples/hello     after a change",
      "npx runtimectl deploy --build ../my-app         an app of yours, such as one with Vite or Express",
      `${origins.admin}/api/docs describes the API; continue with docs/tutorials/first-worker.md`,
    ],
  }),
);

function isUnset(name: string): boolean {
  return (process.env[name] ?? "") === "";
}

async function saveProfile(url: string, file: string): Promise<void> {
  await runtimectl("auth", "login", "--url", url, "--key-file", file, "--profile", profile, "--quiet");
}

async function isFirstRun(): Promise<boolean> {
  return await writeFile(welcomeFile, `${new Date().toISOString()}\n`, { flag: "wx" }).then(
    () => true,
    () => false,
  );
}

async function runtimectl(...commandLine: string[]): Promise<void> {
  const child = spawn(process.execPath, [path.join(packageRoot, "bin/runtimectl.js"), ...commandLine], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (status !== 0)
    process.stderr.write(
      `quick start: "runtimectl ${commandLine[0]} ${commandLine[1]}" failed with status ${status}; the daemon keeps running.\n`,
    );
}
