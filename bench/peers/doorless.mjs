// Our own front door and worker engine, once as the daemon puts them together ("door") and once without the plugins' door between them
// ("engine"): what a request costs when there is no plugin.
import { mkdirSync } from "node:fs";
import pino from "pino";
import { StateLock } from "../../build/server/access/state-lock.js";
import { readConfig } from "../../build/server/config/config.js";
import { createFrontDoor } from "../../build/server/http/front-door.js";
import { packageRoot } from "../../build/server/package-root.js";
import { PluginCode } from "../../build/server/plugins/plugin-code.js";
import { openRooms } from "../../build/server/rooms.js";

const [way, directory] = process.argv.slice(2);
const environment = {
  RUNTIME_WORKER_DIRS: `${directory}/workers`,
  RUNTIME_PLUGIN_DIRS: `${directory}/plugins`,
  RUNTIME_STATE_DIR: `${directory}/state-${way}`,
};
const config = readConfig(environment, { pid: process.pid, cwd: directory, stdoutIsTerminal: false });
mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 });
const code = new PluginCode({ directory: `${config.stateDirectory}/plugin-code`, packageRoot });
const rooms = await openRooms(config, pino({ level: "silent" }), { lock: new StateLock(config.stateDirectory), code });
const serve = {
  door: (...visit) => rooms.door.serve(...visit),
  engine: (...visit) => rooms.engine.handle(...visit),
}[way];
const server = createFrontDoor({ apiBase: config.apiBase, api: (_request, response) => response.writeHead(404).end(), serve });
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => void rooms.engine.close().then(() => process.exit(0)));
