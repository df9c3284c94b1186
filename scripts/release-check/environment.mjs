// The environment of a machine that has only Node and npm: no compiler, no Python, no repository, no settings of its user.
import { constants } from "node:fs";
import { access, mkdir, symlink } from "node:fs/promises";
import path from "node:path";

/** The programs that scripts of npm need: `sh`, and `env` for the shebang of programs. */
const tools = ["sh", "env"];
const hidden = ["cc", "c++", "gcc", "g++", "make", "python3", "node-gyp"];
/** npm settings that lead to the registry. npm passes these settings to the scripts that it runs. */
const keptNpmSettings = new Set(["npm_config_registry", "npm_config_userconfig", "npm_config_globalconfig", "npm_config_cafile"]);
const dropped = /^(?:npm_|node_options$|node_path$|init_cwd$|runtime|xdg_|port$|host$)/i;

/**
 * Returns environment variables with a new home folder and a PATH of one new folder. This folder contains the Node.js that runs this
 * script.
 */
export async function emptyMachine(directory) {
  const bin = path.join(directory, "bin");
  const home = path.join(directory, "home");
  await mkdir(bin, { recursive: true });
  await mkdir(home, { recursive: true });
  await symlink(process.execPath, path.join(bin, "node"));
  for (const tool of tools) await symlink(await find(tool, process.env.PATH), path.join(bin, tool));
  for (const name of hidden) if (await find(name, bin)) throw new Error(`${name} is in PATH: nothing would prove that it is not needed`);
  const kept = Object.entries(process.env).filter(([name]) => keptNpmSettings.has(name.toLowerCase()) || !dropped.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: bin,
    HOME: home,
    npm_config_cache: path.join(directory, "npm-cache"),
    npm_config_audit: "false",
  };
}

/** Returns the path of the npm program that runs this script. The caller can run this program with any Node.js. */
export function npmProgram() {
  const program = process.env.npm_execpath;
  if (program === undefined) throw new Error("npm_execpath is unset: run this by npm run release:check");
  return program;
}

async function find(name, folders) {
  for (const folder of folders.split(path.delimiter)) {
    const file = path.join(folder, name);
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return file;
  }
  return undefined;
}
