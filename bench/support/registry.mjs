import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const startTimeoutMs = 30_000;

/** Starts a real OCI registry on a free port (Debian package `docker-registry`), and returns its origin when it responds. */
export async function startRegistry(stage) {
  const directory = await stage.temporaryDirectory();
  const address = `127.0.0.1:${await freePort()}`;
  const file = path.join(directory, "registry.yml");
  const lines = [
    "version: 0.1",
    "log: { level: error, accesslog: { disabled: true } }",
    `storage: { filesystem: { rootdirectory: ${JSON.stringify(directory)} }, delete: { enabled: true } }`,
    `http: { addr: ${JSON.stringify(address)} }`,
  ];
  await writeFile(file, lines.join("\n"));
  const program = process.env.DOCKER_REGISTRY ?? "docker-registry";
  const env = { PATH: process.env.PATH, OTEL_TRACES_EXPORTER: "none" };
  const child = stage.spawn(program, ["serve", file], { stdio: "ignore", env });
  const deadlineMs = performance.now() + startTimeoutMs;
  while (!(await isHealthy(`http://${address}/v2/`))) {
    if (child.exitCode !== null || performance.now() > deadlineMs) throw new Error("docker-registry does not answer");
    await delay(20);
  }
  return `http://${address}`;
}

async function isHealthy(url) {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
