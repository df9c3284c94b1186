import { ApiError } from "../../shared/api-error.js";
import type { Isolate } from "../../shared/contract/isolates.js";
import { namespacesCover } from "../../shared/namespace.js";
import type { ResourceHandlers } from "../http/handler.js";

/** The fields of an isolate that the operation `stop` reads. */
type StoppedIsolate = Pick<Isolate, "pid" | "worker" | "version" | "state">;

/** The functions of the worker engine that these handlers use. */
interface WorkerEnginePort {
  isolates(): StoppedIsolate[];
  stopIsolate(pid: number): void;
}

/** Reads the isolates with the memory and CPU time of their processes. */
interface IsolateReadingsPort {
  list(isWanted: (worker: string) => boolean): Promise<Isolate[]>;
}

export function createIsolateHandlers(engine: WorkerEnginePort, readings: IsolateReadingsPort): ResourceHandlers<"isolates"> {
  return {
    list: ({ query: { worker: wanted }, principal: { namespaces } }) =>
      readings.list((worker) => (wanted === undefined || wanted === worker) && namespacesCover(namespaces, worker)),
    stop: ({ params: { pid }, principal: { namespaces } }) => {
      const find = () => engine.isolates().find((isolate) => isolate.pid === pid && namespacesCover(namespaces, isolate.worker));
      const isolate = find();
      if (!isolate) {
        const reason = "The process does not exist, is no isolate, or runs a worker in another namespace than those of the key.";
        throw new ApiError(
          "ISOLATE_NOT_FOUND",
          `No isolate with the process id ${pid} was found. ${reason} List the isolates with runtimectl isolates list.`,
        );
      }
      engine.stopIsolate(pid);
      const { worker, version } = isolate;
      return { success: true, data: { pid, worker, version, state: find()?.state ?? "draining" } };
    },
  };
}
