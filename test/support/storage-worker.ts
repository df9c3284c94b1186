/** A worker that performs one file operation per request: `?act=write&name=a`. Responds with JSON: the result, or the error's code. */
export const storageWorker = `
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";

const acts = {
  folders: (_, env) => ({ data: env.DATA_DIR, variable: process.env.DATA_DIR, temporary: os.tmpdir() }),
  write: (file, _, query) => fs.writeFileSync(file, query.get("text") ?? "x"),
  read: (file) => fs.readFileSync(file, "utf8"),
  list: (file) => fs.readdirSync(file).toSorted(),
  delete: (file) => fs.rmSync(file, { recursive: true }),
  fill(file, _, query) {
    const descriptor = fs.openSync(file, "w");
    const block = Buffer.alloc(1024 * 1024, 1);
    try {
      for (let count = Number(query.get("mb")); count > 0; count -= 1) fs.writeSync(descriptor, block);
    } finally {
      fs.closeSync(descriptor);
    }
  },
  // The file has no name while it is written, and stays open.
  fillDeleted(file, _, query) {
    const descriptor = fs.openSync(file, "w");
    fs.unlinkSync(file);
    const block = Buffer.alloc(1024 * 1024, 1);
    for (let count = Number(query.get("mb")); count > 0; count -= 1) fs.writeSync(descriptor, block);
  },
  many(file, _, query) {
    fs.mkdirSync(file);
    for (let number = Number(query.get("count")); number > 0; number -= 1) fs.writeFileSync(path.join(file, String(number)), "");
  },
  sparse(file, _, query) {
    const descriptor = fs.openSync(file, "w");
    try {
      fs.ftruncateSync(descriptor, Number(query.get("mb")) * 1024 * 1024);
    } finally {
      fs.closeSync(descriptor);
    }
  },
  allocate: (file, _, query) => spawnSync("/usr/bin/fallocate", ["-l", query.get("mb") + "M", file]).status,
  insert(file) {
    const database = new DatabaseSync(file);
    try {
      database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS rows (id INTEGER); INSERT INTO rows VALUES (1)");
      return database.prepare("SELECT count(*) AS count FROM rows").get().count;
    } finally {
      database.close();
    }
  },
};

export default { fetch(request, env) {
  const query = new URL(request.url).searchParams;
  const folder = query.get("folder") === "temporary" ? os.tmpdir() : (query.get("folder") ?? env.DATA_DIR ?? "");
  try {
    return Response.json({ result: acts[query.get("act")](path.join(folder, query.get("name") ?? ""), env, query) ?? null });
  } catch (error) {
    return Response.json({ code: error.code ?? String(error) });
  }
} };`;

/** Performs one operation of a `storageWorker` at a URL that ends with a slash. */
export async function askStorage(
  url: string,
  act: string,
  query: Readonly<Record<string, string | number>> = {},
): Promise<{ result?: unknown; code?: string }> {
  const parameters = new URLSearchParams({
    act,
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  });
  const response = await fetch(`${url}?${parameters.toString()}`);
  const text = await response.text();
  return response.ok ? (JSON.parse(text) as { result?: unknown; code?: string }) : { code: `HTTP ${response.status}` };
}
