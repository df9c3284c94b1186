// The daemon's HTTP server and worker engine, with the plugin router ("router") or without it ("engine"). The difference is the cost of the
// plugin router without plugins.
import { mkdirSync } from "node:fs";
import pino from "pino";
import { StateLock } from "../../build/server/access/state-lock.js";
import { readConfig } from "../../build/server/config/config.js";
import { createHttpServer } from "../../build/server/http/server.js";
import { packageRoot } from "../../build/server/package-root.js";
import { PluginCode } from "../../build/server/plugins/plugin-code.js";
import { openServices } from "../../build/server/composition.js";

const [way, directory] = process.argv.slice(2);
const environment = {
  RUNTIME_WORKER_DIRS: `${directory}/workers`,
  RUNTIME_PLUGIN_DIRS: `${directory}/plugins`,
  RUNTIME_STATE_DIR: `${directory}/state-${way}`,
};
const config = readConfig(environment, { pid: process.pid, cwd: directory, stdoutIsTerminal: false });
mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 });
const code = new PluginCode({ directory: `${config.stateDirectory}/plugin-code`, packageRoot });
const services = await openServices(config, pino({ level: "silent" }), { lock: new StateLock(config.stateDirectory), code });
const serve = {
  router: (exchange) => services.pluginRouter.serve(exchange),
  engine: (exchange) => services.engine.handle(exchange),
}[way];
const server = createHttpServer({ apiBase: config.apiBase, api: (_request, response) => response.writeHead(404).end(), serve });
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => void services.engine.close().then(() => process.exit(0)));
