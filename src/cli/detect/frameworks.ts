/** A possible output of a build. The output exists if `file` exists. `manifest` describes how to serve the output. */
export interface FrameworkOutput {
  /** Path of the file that proves that the output exists, relative to the project. `*` stands for one folder name. */
  readonly file: string;
  /** Folders to pack, in addition to package.json. Installed packages are packed only if the list contains `node_modules`. */
  readonly packed: readonly string[];
  /** Manifest fields for this output, in addition to `entrypoint`. The entrypoint is `file`. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Folders that get another path in the archive. Folders that do not exist are skipped. */
  readonly copies?: readonly { readonly from: string; readonly to: string }[];
  /** A generated module in the archive, which is the entrypoint in place of `file`. */
  readonly module?: { readonly path: string; readonly text: string };
}

export interface Framework {
  readonly name: string;
  /** Names of npm packages. A project uses this framework if its package.json lists one of these packages. */
  readonly packages: readonly string[];
  /** File names. A project uses this framework if it contains one of these files. */
  readonly configFiles?: readonly string[];
  /** Possible build outputs in search order. `deploy` uses the first output that exists. */
  readonly outputs: readonly FrameworkOutput[];
  /** Setting of the framework that makes the build create a supported output. `deploy` prints this text if no output exists. */
  readonly advice?: string;
}

const site = (folder: string, manifest: FrameworkOutput["manifest"] = {}): FrameworkOutput => ({
  file: `${folder}/index.html`,
  packed: [folder],
  manifest: { injectBase: "rewrite", ...manifest },
});
const nitro: readonly FrameworkOutput[] = [{ file: ".output/server/index.mjs", packed: [".output"] }, site(".output/public")];

const reactRouterModule = `import { createRequestHandler } from "react-router";
import * as build from "./build/server/index.js";

export default { fetch: createRequestHandler(build) };
`;

/** Supported frameworks in search order. Frameworks that use Vite come before Vite, because their projects also list Vite. */
export const frameworks: readonly Framework[] = [
  {
    name: "Next.js",
    packages: ["next"],
    outputs: [
      {
        file: ".next/standalone/server.js",
        packed: [".next/standalone"],
        copies: [
          { from: ".next/static", to: ".next/standalone/.next/static" },
          { from: "public", to: ".next/standalone/public" },
        ],
      },
      site("out", { immutable: ["_next/static"] }),
    ],
    advice: 'set output: "standalone" (a server) or output: "export" (a static site) in next.config, and build again',
  },
  { name: "Nuxt", packages: ["nuxt"], outputs: nitro },
  { name: "SolidStart", packages: ["@solidjs/start"], outputs: nitro },
  {
    name: "TanStack Start",
    packages: ["@tanstack/react-start", "@tanstack/solid-start"],
    outputs: [
      ...nitro,
      {
        file: "dist/server/server.js",
        packed: ["dist", "node_modules"],
        manifest: { assets: "dist/client", immutable: ["assets"] },
      },
    ],
  },
  {
    name: "SvelteKit",
    packages: ["@sveltejs/kit"],
    outputs: [
      {
        file: "build/index.js",
        packed: ["build", "node_modules"],
        // SvelteKit reads the origin of a submitted form from these headers.
        manifest: { env: { PROTOCOL_HEADER: "x-forwarded-proto", HOST_HEADER: "x-forwarded-host" } },
      },
      site("build", { immutable: ["_app/immutable"] }),
    ],
    advice: "use @sveltejs/adapter-node (a server) or @sveltejs/adapter-static in svelte.config.js, and build again",
  },
  {
    name: "Astro",
    packages: ["astro"],
    outputs: [{ file: "dist/server/entry.mjs", packed: ["dist", "node_modules"] }, site("dist", { immutable: ["_astro"] })],
  },
  {
    name: "React Router",
    packages: ["@react-router/dev"],
    outputs: [
      {
        file: "build/server/index.js",
        packed: ["build", "node_modules"],
        manifest: { assets: "build/client", immutable: ["assets"] },
        module: { path: "react-router-server.mjs", text: reactRouterModule },
      },
      site("build/client", { immutable: ["assets"], notFound: "spa" }),
    ],
  },
  { name: "Nitro", packages: ["nitropack", "nitro"], outputs: nitro },
  { name: "NestJS", packages: ["@nestjs/core"], outputs: [{ file: "dist/main.js", packed: ["dist", "node_modules"] }] },
  { name: "Create React App", packages: ["react-scripts"], outputs: [site("build", { immutable: ["static"] })] },
  {
    name: "Angular",
    packages: ["@angular/core"],
    outputs: [site("dist/*/browser", { injectBase: true }), site("dist/browser", { injectBase: true })],
  },
  { name: "Gatsby", packages: ["gatsby"], outputs: [site("public")] },
  { name: "Docusaurus", packages: ["@docusaurus/core"], outputs: [site("build", { immutable: ["assets"] })] },
  { name: "VitePress", packages: ["vitepress"], outputs: [site(".vitepress/dist"), site("docs/.vitepress/dist")] },
  { name: "Eleventy", packages: ["@11ty/eleventy"], outputs: [site("_site")] },
  { name: "Vue CLI", packages: ["@vue/cli-service"], outputs: [site("dist")] },
  { name: "Parcel", packages: ["parcel"], outputs: [site("dist")] },
  { name: "Vite", packages: ["vite"], outputs: [site("dist", { immutable: ["assets"] })] },
  { name: "Hugo", packages: [], configFiles: ["hugo.toml", "hugo.yaml"], outputs: [site("public")] },
  { name: "Jekyll", packages: ["jekyll"], configFiles: ["_config.yml"], outputs: [site("_site")] },
  { name: "MkDocs", packages: [], configFiles: ["mkdocs.yml"], outputs: [site("site")] },
];

/** Possible build outputs of projects with an unknown framework. */
export const usualOutputs: readonly FrameworkOutput[] = ["dist", "build", "out", "public", "_site"].map((folder) => site(folder));
