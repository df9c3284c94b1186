import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { create } from "tar";

/** Returns the operations on a worker under load: replace, disable and delete. Further operations create and revoke keys. */
export async function createOperations(daemon, directory) {
  const archives = await Promise.all((await packEditions(directory)).map((file) => readFile(file)));
  const call = async (method, route, init = {}) => {
    const response = await fetch(`${daemon.url}/api${route}`, {
      method,
      ...init,
      headers: { ...daemon.headers, ...init.headers },
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const version = "/workers/_/changing/1.0.0";
  let edition = 0;
  const upload = async () => {
    edition += 1;
    const form = new FormData();
    form.append("file", new Blob([archives[edition % archives.length]]), "changing.tgz");
    await call("POST", "/workers/upload", { body: form });
  };
  return {
    replace: upload,
    "disable and enable": async () => {
      await call("POST", `${version}/disable`);
      await call("POST", `${version}/enable`);
    },
    "delete and upload": async () => {
      await call("DELETE", version);
      await upload();
    },
    "list the workers": async () => {
      await call("GET", "/workers");
    },
    "make and revoke a key": async () => {
      const key = JSON.stringify({ name: "soak", role: "viewer" });
      await call("POST", "/keys", { body: key, headers: { "content-type": "application/json" } });
      const { keys } = await call("GET", "/keys");
      for (const { id } of keys) await call("DELETE", `/keys/${id}`);
    },
  };
}

/** Returns the archive paths of two editions of a small worker. The operations install the editions in turn. */
export function packEditions(directory) {
  return Promise.all([1, 2].map((edition) => packEdition(directory, edition)));
}

async function packEdition(directory, edition) {
  const folder = path.join(directory, `edition-${edition}`);
  await mkdir(path.join(folder, "files"), { recursive: true });
  await writeFile(path.join(folder, "manifest.yaml"), JSON.stringify({ name: "changing", version: "1.0.0" }));
  await writeFile(path.join(folder, "index.js"), `export default { fetch: () => new Response("edition ${edition}") };`);
  for (let index = 0; index < 50; index += 1) await writeFile(path.join(folder, "files", `${index}.txt`), "x".repeat(index * 100));
  const file = path.join(directory, `edition-${edition}.tgz`);
  await create({ gzip: true, cwd: folder, file }, ["."]);
  return file;
}
