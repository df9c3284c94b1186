import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { freePort } from "./free-port.mjs";
import { waitForResponse } from "./server.mjs";

/** Starts an OCI registry, the program of Debian's package `docker-registry`, with its data in a temporary folder. Resolves with its URL. */
export async function startRegistry(stage) {
  const directory = await stage.temporaryDirectory();
  const data = path.join(directory, "data");
  await mkdir(data);
  const address = `127.0.0.1:${await freePort()}`;
  const file = path.join(directory, "registry.yml");
  const lines = [
    "version: 0.1",
    "log: { level: error, accesslog: { disabled: true } }",
    `storage: { filesystem: { rootdirectory: ${JSON.stringify(data)} }, delete: { enabled: true } }`,
    `http: { addr: ${JSON.stringify(address)} }`,
  ];
  await writeFile(file, lines.join("\n"));
  const child = stage.spawn(program(), ["serve", file], {
    stdio: "ignore",
    env: { OTEL_TRACES_EXPORTER: "none" },
  });
  const url = `http://${address}`;
  await waitForResponse(child, `${url}/v2/`, "docker-registry");
  return { url };
}

function program() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const candidates = [process.env.DOCKER_REGISTRY ?? "", ...folders.map((folder) => path.join(folder, "docker-registry"))];
  const found = candidates.find((candidate) => candidate !== "" && existsSync(candidate));
  if (found === undefined) throw new Error("docker-registry is missing: run apt-get install docker-registry");
  return found;
}
