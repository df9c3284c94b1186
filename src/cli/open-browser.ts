import { spawn } from "node:child_process";
import type { Environment } from "./config/environment.js";
import type { Variables } from "./config/user-directories.js";

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Whether the machine has a graphical desktop, on which a browser can open. */
export function hasDesktop({ DISPLAY, WAYLAND_DISPLAY }: Environment): boolean {
  return process.platform !== "linux" || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
}

/** Opens a URL in the user's browser. Ignores a failure, because the command also prints the URL. */
export function openBrowser(url: string, variables: Variables): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, env: variables });
  child.on("error", () => {});
  child.unref();
}
