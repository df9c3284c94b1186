import { readFile } from "node:fs/promises";
import path from "node:path";
import { mostRewrittenBytes, rootUrlsOfScript } from "../../shared/root-urls.js";
import { readManifestOf } from "../pack/bundle-plan.js";
import type { PackPlan, PackedFile } from "../pack/pack-plan.js";
import type { Problem } from "./problem.js";

/** Maximum size of a script that is read. The limit keeps the check fast. */
const mostScriptBytes = 16 * 1024 * 1024;
/** npm packages with a router that expects the site at `/`, unless the user configures a base path. */
const routers = [
  "react-router-dom",
  "react-router",
  "vue-router",
  "@tanstack/react-router",
  "vitepress",
  "@docusaurus/core",
  "gatsby",
  "nuxt",
  "next",
];
/** Matches parts of a page that must not be searched for attributes: comments, and the text of scripts. */
const notRendered = /<!--[^]*?-->|(<script\b[^<>]*>)[^]*?<\/script>/gi;
/** Maximum number of pages that are read. The limit keeps the check fast. */
const mostPages = 50;
/** Matches elements that load a file when the page opens. Captures the URL of the file. */
const loadedFilePattern = /<(?:script|link|img|source|iframe)\b[^<>]*?\s(?:src|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;

/**
 * Returns warnings for URLs in a static site at which the daemon serves no file: URLs that start with `/`, which are outside of the
 * worker's base path, and URLs of files that are not packed.
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
  const scripts = plan.files.filter(({ path: file }) => /\.(?:m?js|css)$/.test(file) && isBelow(file, root));
  const texts = await Promise.all(
    scripts
      .filter(({ sizeBytes }) => sizeBytes <= mostScriptBytes)
      .slice(0, mostPages)
      .map(async (script) => ({ script, text: await readFile(script.source, "utf8") })),
  );
  const router = texts.some(({ text }) => text.includes("baseURI")) ? [] : await routerProblems(plan, entrypoint);
  return [...problems.flat(), ...texts.flatMap((read) => scriptProblems(read, { plan, root, isRewritten })), ...router];
}

interface Site {
  readonly plan: PackPlan;
  /** Folder that contains the entry page, relative to the package folder. */
  readonly root: string;
  /** Whether the daemon inserts the base path into URLs of pages, scripts and style sheets of up to `mostRewrittenBytes` bytes. */
  readonly isRewritten: boolean;
}

/** Returns warnings for URLs in a script or style sheet that start with `/` and are outside of the worker's base path. */
function scriptProblems({ script, text }: { script: PackedFile; text: string }, { plan, root, isRewritten }: Site): Problem[] {
  const packed = new Set(plan.files.map(({ path: file }) => file));
  const base = `the base path /${plan.facts.name}/`;
  const urls = [...rootUrlsOfScript(text)].map(({ path: url }) => url ?? "/");
  const folders = new Set(urls.map(unfinishedFolder).filter((folder) => folder !== undefined));
  const unfinished = [...folders].filter((folder) => [...packed].some((file) => file.startsWith(path.posix.join(root, folder))));
  const isTooLarge = script.sizeBytes > mostRewrittenBytes;
  const whole = isRewritten && !isTooLarge ? [] : urls.filter((url) => url === "/" || packed.has(path.posix.join(root, fileOf(url))));
  const remedy = isTooLarge ? "build with relative URLs (Vite: --base ./), or give the worker a host name" : rewriteRemedy;
  const warning = (message: string): Problem => ({ severity: "warning", code: "OUTSIDE_BASE_PATH", message, file: script.path });
  return [
    ...(whole.length === 0 ? [] : [warning(`loads ${listed(whole)}, outside of ${base}: ${remedy}`)]),
    ...(unfinished.length === 0
      ? []
      : [warning(`composes URLs below ${listed(unfinished)} at run time, outside of ${base}: give the worker a host name`)]),
  ];
}

const rewriteRemedy = "set injectBase: rewrite in the manifest, or build with relative URLs (Vite: --base ./)";

/**
 * Returns the folder of a URL to which the script adds a file name at run time: `/img/` for the texts `/img/` and `/img/${name}.png`.
 * Undefined for a complete URL.
 */
function unfinishedFolder(url: string): string | undefined {
  const [start = ""] = url.split("${");
  const folder = start === url && !url.endsWith("/") ? "/" : start.slice(0, start.lastIndexOf("/") + 1);
  return folder === "/" ? undefined : folder;
}

function fileOf(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** Returns a warning if the site uses a client-side router, unless the entry page contains the worker's base path. */
async function routerProblems({ files, facts }: PackPlan, entrypoint: string): Promise<Problem[]> {
  const [packageJson, page] = [files.find((file) => file.path === "package.json"), files.find((file) => file.path === entrypoint)];
  if (!packageJson || !page || (await readFile(page.source, "utf8")).includes(`"/${facts.name}/`)) return [];
  const fields = parsedObject(await readFile(packageJson.source, "utf8"));
  const router = routers.find((name) => [fields["dependencies"], fields["devDependencies"]].some((list) => hasKey(list, name)));
  if (router === undefined) return [];
  const message = `${router} routes from /, so it may find no page at the base path /${facts.name}/: give the worker a host name, or set the base path of the router`;
  return [{ severity: "warning", code: "ROUTER_BASE_PATH", message, file: entrypoint }];
}

function hasKey(list: unknown, name: string): boolean {
  return typeof list === "object" && list !== null && Object.hasOwn(list, name);
}

/**
 * Returns the fields of a JSON object. For any other text, returns no fields, because the validation of the metadata reports the problem.
 */
function parsedObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

async function problemsOf(page: PackedFile, { plan, root, isRewritten }: Site): Promise<Problem[]> {
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
      : [warning("OUTSIDE_BASE_PATH", `the page loads ${listed(outside)}, outside of its base path ${base}: ${rewriteRemedy}`)]),
  ];
}

function listed(urls: readonly string[]): string {
  const [first, ...others] = [...new Set(urls)];
  return others.length === 0 ? String(first) : `${first} and ${others.length} more`;
}

function isBelow(file: string, folder: string): boolean {
  return folder === "." || file.startsWith(`${folder}/`);
}
