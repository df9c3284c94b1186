import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { connect } from "./connect.js";
import type { SharedDaemon } from "./start-shared-daemon.js";

/** A namespace of the shared daemon that no other test file uses. */
export interface Namespace {
  readonly daemon: SharedDaemon;
  /** With the at sign, such as `@t4f1c2a9b`. */
  readonly scope: string;
  /** Deletes the workers of the namespace. */
  readonly dispose: () => Promise<void>;
}

/** Opens a namespace on the daemon that the files of the project share. */
export function openNamespace(): Namespace {
  const daemon = inject("sharedDaemon");
  const root = connect(daemon.url, daemon.rootKey);
  const scope = `@t${randomBytes(4).toString("hex")}`;
  return {
    daemon,
    scope,
    dispose: async () => {
      for (const { name } of await root.workers.list())
        if (name.startsWith(`${scope}/`)) await root.workers.remove({ params: { scope, name: name.slice(scope.length + 1) } });
    },
  };
}
