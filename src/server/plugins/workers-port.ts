import type { IncomingMessage, ServerResponse } from "node:http";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { UpgradedConnection } from "../web/upgraded-connection.js";
import type { ActivePlugin } from "./active-plugin.js";

/** The version of a worker that would answer for a target. */
export interface WorkerAt {
  readonly version: {
    readonly name: string;
    readonly version: string;
    readonly manifest: Pick<WorkerManifest, "publicRoutes" | "visibility">;
  };
  /** The part of the path that addresses it, as it was sent. */
  readonly base: string;
  /** What is left of the path without the query; empty when only the base was asked for. */
  readonly path: string;
}

/** A request for the app of a plugin. */
export interface AppVisit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly connection: UpgradedConnection | undefined;
  /** As the engine takes its own targets apart; `query` with its `?`. */
  readonly address: {
    readonly name: string;
    readonly range: undefined;
    readonly base: string;
    readonly path: string;
    readonly query: string;
  };
}

/** What plugins need of the workers. */
export interface WorkersPort {
  /** Answers a request, whatever its target. */
  handle(request: IncomingMessage, response: ServerResponse, requestId: string, connection?: UpgradedConnection): void;
  appAt(target: string): WorkerAt | undefined;
  /** Has the app that a plugin brings with it answer. */
  handleApp(plugin: ActivePlugin, visit: AppVisit): void;
}
