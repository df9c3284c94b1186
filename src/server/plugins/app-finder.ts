import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";
import { type DeclaredPublicRoutes, PublicRoutes } from "./public-routes.js";
import { isBelow, pathOf } from "../web/reserved-paths.js";
import type { WorkerAt, WorkersPort } from "./workers-port.js";

/** What would answer a request if no hook did. */
export interface AppChoice {
  readonly info: AppInfo;
  readonly publicRoutes: PublicRoutes;
  /** The path that it would see; empty at its base. */
  readonly path: string;
}

/** Finds what a request is meant for; what it makes of a manifest is kept with it. */
export class AppFinder {
  readonly #workers: WorkersPort;
  readonly #publicRoutes = new WeakMap<DeclaredPublicRoutes, PublicRoutes>();
  readonly #infos = new WeakMap<WorkerAt["version"], AppInfo>();

  constructor(workers: WorkersPort) {
    this.#workers = workers;
  }

  find({ withBase }: PluginSet, target: string): AppChoice | undefined {
    if (withBase.length > 0) {
      const path = pathOf(target);
      const plugin = withBase.find(({ base }) => base !== undefined && isBelow(path, base));
      if (plugin) {
        const { info, installed, base = "" } = plugin;
        return { info, publicRoutes: this.#routesOf(installed.manifest.publicRoutes), path: path.slice(base.length) };
      }
    }
    const worker = this.#workers.appAt(target);
    if (!worker) return undefined;
    return { info: this.#infoOf(worker), publicRoutes: this.#routesOf(worker.version.manifest.publicRoutes), path: worker.path };
  }

  #routesOf(declared: DeclaredPublicRoutes): PublicRoutes {
    let routes = this.#publicRoutes.get(declared);
    if (!routes) this.#publicRoutes.set(declared, (routes = new PublicRoutes(declared)));
    return routes;
  }

  /** Requests for one version mostly write its base the same way. */
  #infoOf({ version, base }: WorkerAt): AppInfo {
    const known = this.#infos.get(version);
    if (known?.base === base) return known;
    const { name, manifest } = version;
    const info: AppInfo = Object.freeze({ kind: "worker", name, version: version.version, base, visibility: manifest.visibility });
    this.#infos.set(version, info);
    return info;
  }
}
