import * as z from "zod";
import { ConfigSchema } from "./config-schema.js";
import { isPackageName } from "./package-name.js";
import { publicRoutes, relativePath, WorkerManifest } from "./worker-manifest.js";

/** File names of the default plugin module, in search order. */
export const usualPluginEntries = ["plugin.js", "plugin.mjs", "index.js", "index.mjs"] as const;

/** Maximum number of entries that a plugin can add to the panel's menu, so that the menu stays readable. */
const mostMenus = 20;

const packageNames = z.array(z.string().refine(isPackageName, "not a package name")).default([]);
const shortText = z.string().min(1).max(100);

/**
 * Whether a path has a `.` or `..` segment that a browser would resolve. Also detects percent-encoded dots, and segments after a backslash.
 */
function hasDotSegment(path: string): boolean {
  const [pathname = ""] = path.split(/[?#]/, 1);
  return pathname.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/**
 * The fields of a plugin manifest, except name, version and `enabled`. All fields are optional. The settings of the plugin are the unknown
 * fields and the fields below `config`.
 */
export const PluginManifest = z.object({
  base: z
    .string()
    .regex(/^\/[A-Za-z0-9_-]{1,100}$/, "must be a slash and one segment of letters, digits, dashes and underscores")
    .optional()
    .describe("Base path of the `routes` and the app; without it, the plugin has only hooks."),
  pluginEntry: relativePath.optional().describe("The module (default: the first of `plugin.js`, `plugin.mjs`, `index.js`, `index.mjs`)."),
  entrypoint: relativePath
    .optional()
    .describe("A page or worker module served at the base, in isolates like a worker. The keys of a worker manifest apply."),
  dependencies: packageNames.describe("Plugins that must be loaded before this one."),
  optionalDependencies: packageNames.describe("Plugins that are loaded before this one if they are installed."),
  menus: z
    .array(
      z.object({
        title: shortText,
        icon: z
          .string()
          .regex(/^[A-Za-z0-9:_-]{0,100}$/, "must be the name of an icon")
          .default(""),
        path: z
          .string()
          .max(500)
          // Excludes control characters, because browsers remove tabs and line breaks: `/<tab>/host` would become `//host`, a URL of
          // another host.
          .regex(/^\/(?![/\\])[^\p{Cc}]*$/u, "must be a path that starts with one slash, without control characters")
          .refine((text) => !hasDotSegment(text), "must be a path without . and .. segments"),
      }),
    )
    .max(mostMenus)
    .default([])
    .describe("Entries in the menu of the control panel."),
  publicRoutes: publicRoutes.describe("Routes below the base that `onRequest` hooks of other plugins skip."),
  config: z.record(z.string(), z.unknown()).default({}).describe("Configuration, in addition to unknown keys."),
  configSchema: ConfigSchema.optional().describe(
    "JSON Schema of the configuration, an object with `properties`. The daemon checks the configuration, inserts `default`s, and lets clients change it.",
  ),
});
export type PluginManifest = z.output<typeof PluginManifest>;

/** Manifest fields that the runtime defines for workers or plugins. */
export const runtimeKeys: ReadonlySet<string> = new Set([
  ...Object.keys(PluginManifest.shape),
  ...Object.keys(WorkerManifest.shape),
  "name",
  "version",
  "enabled",
  "description",
  "deploy",
]);

/** Manifest fields that are not settings of a plugin. */
export const pluginRuntimeKeys: ReadonlySet<string> = new Set([...runtimeKeys].filter((key) => key !== "secrets"));
