import * as hosts from "../../../shared/contract/hosts.js";

export const hostOperations = { hosts: { show: hosts.show } };
