import * as z from "zod";
import { isPackageName } from "./package-name.js";
import { publicRoutes, relativePath, WorkerManifest } from "./worker-manifest.js";

/** Where a plugin's module is when its manifest does not say; the first that is there. */
export const usualPluginEntries = ["plugin.js", "plugin.mjs", "index.js", "index.mjs"] as const;

/** How many entries a plugin may add to the menus of our own screens. */
const mostMenus = 20;

const packageNames = z.array(z.string().refine(isPackageName, "not a package name")).default([]);
const shortText = z.string().min(1).max(100);

/** Whether a browser would read a path as another one: `..` written out, percent-encoded, or behind a backslash. */
function hasDotSegment(path: string): boolean {
  const [pathname = ""] = path.split(/[?#]/, 1);
  return pathname.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/**
 * What a plugin's manifest may say beyond name, version and `enabled`. All fields are optional; the keys that are not listed here, and
 * those below `config`, are the plugin's own configuration.
 */
export const PluginManifest = z.object({
  base: z
    .string()
    .regex(/^\/[A-Za-z0-9_-]{1,100}$/, "must be a slash and one segment of letters, digits, dashes and underscores")
    .optional()
    .describe("Where its `routes` and its app are served; absent = hooks only."),
  pluginEntry: relativePath.optional().describe("The module; else `plugin.js`, `plugin.mjs`, `index.js`, `index.mjs`."),
  entrypoint: relativePath
    .optional()
    .describe("A page or a worker module that is served at the base, in isolates as a worker is, with the keys of a worker's manifest."),
  dependencies: packageNames.describe("Plugins that must be loaded before this one."),
  optionalDependencies: packageNames.describe("Plugins that are loaded before this one, where they are there."),
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
          // Browsers drop tabs and line breaks: what is behind one could be the second slash.
          .regex(/^\/(?![/\\])[^\p{Cc}]*$/u, "must be a path that starts with one slash, without control characters")
          .refine((text) => !hasDotSegment(text), "must be a path without . and .. segments"),
      }),
    )
    .max(mostMenus)
    .default([])
    .describe("Entries in the menu of the control panel."),
  publicRoutes: publicRoutes.describe("Routes below its base that other plugins' `onRequest` hooks leave alone."),
  config: z.record(z.string(), z.unknown()).default({}).describe("Configuration, beside the keys that are not listed here."),
});
export type PluginManifest = z.output<typeof PluginManifest>;

/** Keys of the manifest that are not configuration of the plugin: its own, and those of the app that it serves. */
export const runtimeKeys: ReadonlySet<string> = new Set([
  ...Object.keys(PluginManifest.shape),
  ...Object.keys(WorkerManifest.shape),
  "name",
  "version",
  "enabled",
  "description",
  "deploy",
]);
