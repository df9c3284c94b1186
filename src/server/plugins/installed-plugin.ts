export type { InstalledPlugin } from "../installed-plugin.js";
