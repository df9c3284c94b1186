import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { create } from "tar";

const filesPerApp = 20;

/** Packs an app that responds with its edition. All other files also contain the edition, so that a mixture of two editions is detected. */
export async function packApp(directory, name, edition) {
  const files = Object.fromEntries(Array.from({ length: filesPerApp }, (_, index) => [`files/${index}.txt`, edition]));
  return await packWorker(directory, name, {
    "index.js": `export default { fetch: () => new Response(${JSON.stringify(edition)}) };`,
    ...files,
  });
}

/** Packs a worker with these files. */
export async function packWorker(directory, name, files) {
  return await pack(directory, { "manifest.yaml": JSON.stringify({ name, version: "1.0.0" }), ...files });
}

/** Packs a plugin that responds with its edition. */
export async function packPlugin(directory, name, edition) {
  return await pack(directory, {
    "manifest.yaml": JSON.stringify({ name, version: "1.0.0", base: `/${name}` }),
    "plugin.mjs": `export default () => ({ routes: { fetch: () => new Response(${JSON.stringify(edition)}) } });`,
  });
}

export function formOf(archive) {
  const form = new FormData();
  form.append("file", new Blob([archive]), "package.tgz");
  return form;
}

async function pack(parent, files) {
  const directory = await mkdtemp(path.join(parent, "edition-"));
  try {
    const folder = path.join(directory, "package");
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    const file = path.join(directory, "package.tgz");
    await create({ gzip: true, cwd: folder, file }, ["."]);
    return await readFile(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
