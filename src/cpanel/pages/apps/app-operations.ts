import { show } from "../../../shared/contract/metrics.js";
import * as changes from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";

export const appOperations = {
  workers: {
    list,
    enable: changes.enable,
    disable: changes.disable,
    restart: changes.restart,
    remove: changes.remove,
    removeVersion: changes.removeVersion,
  },
  metrics: { show },
};
