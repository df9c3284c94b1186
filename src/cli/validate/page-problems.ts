import { readFile } from "node:fs/promises";
import path from "node:path";
import { readManifestOf } from "../pack/bundle-plan.js";
import type { PackPlan, PackedFile } from "../pack/pack-plan.js";
import type { Problem } from "./problem.js";

/** Maximum size of a script that is read, which limits the time of the check. */
const mostScriptBytes = 2 * 1024 * 1024;
/** Matches a URL path in quotes or brackets in a script or style sheet, such as `"/assets/a.png"`. */
const rootUrlPattern = /["'`(](\/[\w./@-]{1,200})(?=["'`)#?])/g;
/** Matches the parts of a page that load no file by an attribute: comments, and the text of scripts. */
const notRendered = /<!--[^]*?-->|(<script\b[^<>]*>)[^]*?<\/script>/gi;
/** Maximum number of pages that are read, which limits the time of the check. */
const mostPages = 50;
/** Matches elements that load a file when the page opens, with the URL of the file. */
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
  return [...problems.flat(), ...(await scriptProblems(plan, root))];
}

/** Returns warnings for root-absolute URLs of packed files in scripts and style sheets. No setting of the daemon rewrites these URLs. */
async function scriptProblems(plan: PackPlan, root: string): Promise<Problem[]> {
  const packed = new Set(plan.files.map(({ path: file }) => file));
  const scripts = plan.files.filter(
    ({ path: file, sizeBytes }) => /\.(?:m?js|css)$/.test(file) && isBelow(file, root) && sizeBytes <= mostScriptBytes,
  );
  const problems: Problem[] = [];
  for (const script of scripts.slice(0, mostPages)) {
    const text = await readFile(script.source, "utf8");
    const urls = [...text.matchAll(rootUrlPattern)].map(([, url = ""]) => url).filter((url) => packed.has(path.posix.join(root, url)));
    if (urls.length === 0) continue;
    const message = `loads ${listed(urls)}, outside of the base path /${plan.facts.name}/: build with relative URLs (Vite: --base ./), or give the worker a host name`;
    problems.push({ severity: "warning", code: "OUTSIDE_BASE_PATH", message, file: script.path });
  }
  return problems;
}

async function problemsOf(
  page: PackedFile,
  { plan, root, isRewritten }: { plan: PackPlan; root: string; isRewritten: boolean },
): Promise<Problem[]> {
  const text = (await readFile(page.source, "utf8")).replaceAll(notRendered, "$1");
  const isPacked = (file: string) => plan.files.some((each) => each.path === file || each.path === `${file}/index.html`);
  const base = `/${plan.facts.name}/`;
  const missing: string[] = [];
  const outside: string[] = [];
  for (const [, quoted, single, bare] of text.matchAll(loadedFilePattern)) {
    const url = (quoted ?? single ?? bare ?? "").replace(/[?#].*$/, "").replaceAll("&amp;", "&");
    if (url === "" || url.startsWith("//") || /^[a-z][a-z0-9+.-]*:/i.test(url) || url.includes("%")) continue;
    const isBelowBase = url.startsWith(base);
    const file = url.startsWith("/")
      ? path.posix.join(root, isBelowBase ? url.slice(base.length - 1) : url)
      : path.posix.join(path.posix.dirname(page.path), url);
    if (file === root || file === `${root}/` || file === "./") continue;
    if (!isPacked(file.replace(/\/$/, ""))) missing.push(url);
    else if (url.startsWith("/") && !isBelowBase && !isRewritten) outside.push(url);
  }
  const warning = (code: string, message: string): Problem => ({ severity: "warning", code, message, file: page.path });
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
