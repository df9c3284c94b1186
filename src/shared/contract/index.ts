import * as audit from "./audit.js";
import * as cron from "./cron.js";
import * as configuration from "./configuration.js";
import * as data from "./data.js";
import * as discovery from "./discovery.js";
import * as documentation from "./documentation.js";
import type { EndpointDefinition } from "./endpoint.js";
import * as events from "./events.js";
import { pluginFiles, workerFiles } from "./files.js";
import { live, overall, ready } from "./health.js";
import * as instances from "./instances.js";
import * as hosts from "./hosts.js";
import * as isolates from "./isolates.js";
import * as keys from "./keys.js";
import * as metrics from "./metrics.js";
import * as metricsHistory from "./metrics-history.js";
import * as plugins from "./plugins.js";
import * as secrets from "./secrets.js";
import * as session from "./session.js";
import * as sharedIndex from "./shared-index.js";
import * as settings from "./settings.js";
import * as workerChanges from "./worker-changes.js";
import { health as workerHealth } from "./worker-health.js";
import * as workerLogs from "./worker-logs.js";
import * as workers from "./workers.js";

/** All operations of the API, by resource and name. */
export const contract = {
  discovery: { runtime: discovery.runtime },
  health: { overall, ready, live },
  session: { show: session.show, create: session.create, remove: session.remove },
  // `workerFiles` and `data` must precede `workers`, because the path `/workers/:scope/:name` of `workers` also matches their paths.
  workerFiles,
  data: { list: data.list, download: data.download, remove: data.remove },
  workers: {
    list: workers.list,
    health: workerHealth,
    upload: workerChanges.upload,
    enable: workerChanges.enable,
    disable: workerChanges.disable,
    restart: workerChanges.restart,
    remove: workerChanges.remove,
    removeVersion: workerChanges.removeVersion,
    logs: workerLogs.logs,
  },
  cron: { list: cron.list, run: cron.run },
  isolates: { list: isolates.list, stop: isolates.stop },
  instances: { list: instances.list, drain: instances.drain, undrain: instances.undrain },
  pluginFiles,
  plugins: {
    list: plugins.list,
    loaded: plugins.loaded,
    upload: plugins.upload,
    reload: plugins.reload,
    enable: plugins.enable,
    disable: plugins.disable,
    remove: plugins.remove,
  },
  hosts: { list: hosts.list, add: hosts.add, ask: hosts.ask, remove: hosts.remove },
  logs: { list: workerLogs.list },
  secrets: {
    list: secrets.list,
    set: secrets.set,
    remove: secrets.remove,
    listOfNamespace: secrets.listOfNamespace,
    setOfNamespace: secrets.setOfNamespace,
    removeOfNamespace: secrets.removeOfNamespace,
    rotateKey: secrets.rotateKey,
  },
  // `secrets` must precede `workerConfig`, because the path `/workers/:scope/:name/:version/config` also matches the path of a secret named
  // `config`.
  workerConfig: { show: configuration.showOfWorker, change: configuration.changeOfWorker },
  pluginConfig: { show: configuration.showOfPlugin, change: configuration.changeOfPlugin },
  settings: { show: settings.show },
  keys: { list: keys.list, meta: keys.meta, create: keys.create, rotate: keys.rotate, revoke: keys.revoke },
  index: { show: sharedIndex.show, resync: sharedIndex.resync },
  events: { stream: events.stream },
  audit: { list: audit.list },
  metrics: { text: metrics.text, show: metrics.show, history: metricsHistory.history, sparklines: metricsHistory.sparklines },
  documentation: { openapi: documentation.openapi, page: documentation.page },
} as const satisfies Record<string, Record<string, EndpointDefinition>>;

export type Contract = typeof contract;

/** All operations of the contract as a list. The id of an operation is `<resource>.<operation>`. */
export const operations: readonly { id: string; resource: string; endpoint: EndpointDefinition }[] = Object.entries(contract).flatMap(
  ([resource, endpoints]) => Object.entries(endpoints).map(([name, endpoint]) => ({ id: `${resource}.${name}`, resource, endpoint })),
);
