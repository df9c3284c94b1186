/** One possible output of a build: a file that proves that the build has run, and the manifest that serves the output. */
export interface FrameworkOutput {
  /** Path below the project. `*` stands for one folder name. */
  readonly file: string;
  /**
   * Folders that the package contains in addition to package.json. Installed packages are included only if the list contains
   * `node_modules`.
   */
  readonly packed: readonly string[];
  /** Fields of the manifest in addition to `entrypoint`, whose value is `file`. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Folders that are copied to another path in the archive. Missing folders are skipped. */
  readonly copies?: readonly { readonly from: string; readonly to: string }[];
  /** Text of a generated module in the archive. It replaces `file` as the entrypoint. */
  readonly module?: { readonly path: string; readonly text: string };
}

export interface Framework {
  readonly name: string;
  /** Names of packages. The project uses this framework if its package.json lists one of them. */
  readonly packages: readonly string[];
  /** File names. The project uses this framework if one of these files exists. */
  readonly configFiles?: readonly string[];
  /** Possible outputs in search order. `deploy` uses the first one whose file exists. */
  readonly outputs: readonly FrameworkOutput[];
  /** Setting of the framework that produces one of the outputs. The user sees it if none of the outputs exists. */
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

/** Supported frameworks. Frameworks that use Vite come before Vite itself. */
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
        // SvelteKit determines the origin of a submitted form by these headers.
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

/** Outputs of projects without a known framework. */
export const usualOutputs: readonly FrameworkOutput[] = ["dist", "build", "out", "public", "_site"].map((folder) => site(folder));
