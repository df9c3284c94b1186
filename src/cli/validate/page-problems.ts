import { readFile } from "node:fs/promises";
import path from "node:path";
import { readManifestOf } from "../pack/bundle-plan.js";
import type { PackPlan, PackedFile } from "../pack/pack-plan.js";
import type { Problem } from "./problem.js";

/** Comments, and the text of scripts. */
const notRendered = /<!--[^]*?-->|(<script\b[^<>]*>)[^]*?<\/script>/gi;
/** Maximum number of pages to read. */
const mostPages = 50;
/** Elements that load a file when the page opens, and the URL of the file. */
const loadedFilePattern = /<(?:script|link|img|source|iframe)\b[^<>]*?\s(?:src|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;

/**
 * Returns warnings for pages of a static site that load files which the daemon does not serve at that URL: root-absolute URLs, which are
 * outside of the worker's base path, and files that are not packed.
 */
export async function findPageProblems(plan: PackPlan): Promise<Problem[]> {
  const { entrypoint } = plan.facts;
  if (entrypoint === undefined || path.extname(entrypoint) !== ".html") return [];
  const root = path.posix.dirname(entrypoint);
  const isRewritten = readManifestOf(plan).document.get("injectBase") === "rewrite";
  const pages = plan.files.filter(
    (file) => file.path.endsWith(".html") && isBelow(file.path, root) && !file.path.includes("node_modules/"),
  );
  const problems = await Promise.all(pages.slice(0, mostPages).map((page) => problemsOf(page, { plan, root, isRewritten })));
  return problems.flat();
}

async function problemsOf(
  page: PackedFile,
  { plan, root, isRewritten }: { plan: PackPlan; root: string; isRewritten: boolean },
): Promise<Problem[]> {
  const text = (await readFile(page.source, "utf8")).replaceAll(notRendered, "$1");
  const isPacked = (file: string) => plan.files.some((each) => each.path === file || each.path === `${file}/index.html`);
  const missing: string[] = [];
  const outside: string[] = [];
  for (const [, quoted, single, bare] of text.matchAll(loadedFilePattern)) {
    const url = (quoted ?? single ?? bare ?? "").replace(/[?#].*$/, "").replaceAll("&amp;", "&");
    if (url === "" || url.startsWith("//") || /^[a-z][a-z0-9+.-]*:/i.test(url) || url.includes("%")) continue;
    const file = url.startsWith("/") ? path.posix.join(root, url) : path.posix.join(path.posix.dirname(page.path), url);
    if (file === root || file === `${root}/` || file === "./") continue;
    if (!isPacked(file.replace(/\/$/, ""))) missing.push(url);
    else if (url.startsWith("/") && !isRewritten) outside.push(url);
  }
  const warning = (code: string, message: string): Problem => ({ severity: "warning", code, message, file: page.path });
  const base = `/${plan.facts.name}/`;
  return [
    ...(missing.length === 0 ? [] : [warning("FILE_NOT_PACKED", `the page loads ${listed(missing)}, which the package does not contain`)]),
    ...(outside.length === 0
      ? []
      : [
          warning(
            "OUTSIDE_BASE_PATH",
            `the page loads ${listed(outside)}, outside of its base path ${base}: set injectBase: rewrite in the manifest, or build with relative URLs (Vite: --base ./)`,
          ),
        ]),
  ];
}

function listed(urls: readonly string[]): string {
  const [first, ...others] = [...new Set(urls)];
  return others.length === 0 ? String(first) : `${first} and ${others.length} more`;
}

function isBelow(file: string, folder: string): boolean {
  return folder === "." || file.startsWith(`${folder}/`);
}
