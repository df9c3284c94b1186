import { packFiles } from "../../support/pack-files.js";

/** A plugin with pages: one that works, one that is missing, one that forbids frames, one served outside of the plugin. */
export const boardManifest = `name: "@team/board"
version: 1.2.0
base: /board
deploy: { digest: ${"a".repeat(64)}, at: 1, message: A new board, by: Anna }
dependencies: [basis]
menus:
  - { title: Board, icon: chart, path: /board/ }
  - { title: Missing, icon: chart, path: /board/missing }
  - { title: Closed, icon: chart, path: /board/closed }
  - { title: Elsewhere, icon: chart, path: /elsewhere/ }
`;

/** Writes into its page what it can access of the panel around it. */
const boardScript = `
const tried = (attempt) => { try { return String(attempt()); } catch (error) { return error.name; } };
document.getElementById("reach").textContent =
  [origin, tried(() => parent.document.title), tried(() => document.cookie), tried(() => localStorage.length)].join(" ");
`;

export const boardCode = `
const page = '<!doctype html><html lang="en"><title>Board</title><h1>The board</h1><p id="reach"></p><img src="/board/dot.svg" alt=""><script src="/board/script.js"></script></html>';
const html = { "content-type": "text/html" };
export default {
  routes: {
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/") return new Response(page, { headers: html });
      if (pathname === "/script.js") return new Response(${JSON.stringify(boardScript)}, { headers: { "content-type": "text/javascript" } });
      if (pathname === "/dot.svg") return new Response('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>', { headers: { "content-type": "image/svg+xml" } });
      if (pathname === "/closed") return new Response(page, { headers: { ...html, "x-frame-options": "DENY" } });
      return new Response(null, { status: 404 });
    },
  },
};`;

/** Packs a plugin with one code file. */
export async function packPlugin(manifest: string, code = "export default {};"): Promise<Buffer> {
  return packFiles({ "manifest.yaml": manifest, "plugin.js": code });
}
