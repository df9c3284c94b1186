import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

export const templateNames = ["fetch", "typescript", "static", "plugin"] as const;
/** Description of each template in the help. */
export const templateMeanings: Readonly<Record<TemplateName, string>> = {
  fetch: "a module with fetch",
  typescript: "a module with fetch, in TypeScript",
  static: "a static site",
  plugin: "code that extends the daemon",
};
const ignored = "node_modules/\n.runtime/\n*.tgz\n";
const templates: Readonly<Record<TemplateName, (name: string) => Readonly<Record<string, string>>>> = {
  fetch: (name) => ({
    "manifest.yaml": moduleManifest(name, "index.js"),
    "index.js": `/** Receives a standard Request and returns a standard Response. env contains the variables of manifest.yaml. */
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return Response.json({ ok: true });
    return new Response(\`\${env.GREETING} from \${pathname}\\n\`);
  },
};
`,
  }),
  typescript: (name) => ({
    "manifest.yaml": moduleManifest(name, "index.ts"),
    "index.ts": `interface Env {
  readonly GREETING: string;
}

/** Receives a standard Request and returns a standard Response. env contains the variables of manifest.yaml. */
export default {
  fetch(request: Request, env: Env): Response {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return Response.json({ ok: true });
    return new Response(\`\${env.GREETING} from \${pathname}\\n\`);
  },
};
`,
  }),
  static: (name) => ({
    "manifest.yaml": `name: ${JSON.stringify(name)}
version: 0.1.0
# The files in the folder of the entrypoint are served.
entrypoint: public/index.html
`,
    "public/index.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Hello</title>
    <link rel="stylesheet" href="style.css" />
  </head>
  <body>
    <h1>Hello</h1>
  </body>
</html>
`,
    "public/style.css": `body {
  font: 1.1rem/1.5 system-ui, sans-serif;
  margin: 4rem auto;
  max-width: 40rem;
}
`,
  }),
  plugin: (name) => ({
    "manifest.yaml": `name: ${JSON.stringify(name)}
version: 0.1.0
# The path of the plugin's routes. Remove this line for a plugin with only hooks.
base: /${name.replace(/^@[^/]+\//, "").replace(/\./g, "-")}

# Other keys are the configuration of the plugin.
greeting: Hello
`,
    "plugin.js": `/** Called for each reload: keep state inside this function. */
export default (config) => ({
  onInit(context) {
    context.logger.info("ready", { greeting: config.greeting });
  },

  // Paths are relative to the base.
  routes: {
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname !== "/") return new Response(null, { status: 404 });
      return Response.json({ greeting: config.greeting });
    },
  },
});
`,
  }),
};

export type TemplateName = (typeof templateNames)[number];

/** Returns the files of a small project that works without changes. The object keys are relative paths. */
export function templateFiles(template: TemplateName, name: string): Readonly<Record<string, string>> {
  return { ...templates[template](name), ".gitignore": ignored, "README.md": readme(template, name) };
}

function readme(template: TemplateName, name: string): string {
  const dev = template === "plugin" ? "" : "runtimectl dev      # serve locally, reload on change\n";
  return `# ${name}\n\n\`\`\`sh\n${dev}runtimectl deploy   # upload to the daemon\n\`\`\`\n`;
}

function moduleManifest(name: string, entrypoint: string): string {
  return `name: ${JSON.stringify(name)}
version: 0.1.0
entrypoint: ${entrypoint}
env:
  GREETING: Hello
`;
}

/** Writes all files below the folder, or none if one of them exists or a write fails. Creates the folder if necessary. */
export async function writeNewFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const taken = Object.keys(files).filter((file) => existsSync(path.join(folder, file)));
  if (taken.length > 0) throw exists(folder, taken);
  const written: string[] = [];
  try {
    for (const [file, text] of Object.entries(files)) {
      const target = path.join(folder, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, text, { flag: "wx" });
      written.push(target);
    }
  } catch (error) {
    for (const target of written) await rm(target, { force: true });
    const { code, path: at = folder } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError("NOT_WRITTEN", `${at} cannot be written (${code}); nothing was written`, { exitCode: exitCodes.failed });
  }
}

function exists(folder: string, files: readonly string[]): CommandError {
  return new CommandError("PATH_EXISTS", `${folder} already contains files with the names of template files; nothing was written`, {
    exitCode: exitCodes.conflict,
    details: files,
    hint: "choose another folder: runtimectl init ./new",
  });
}
