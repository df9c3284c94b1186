import * as hosts from "../../../shared/contract/hosts.js";

export const hostOperations = { hosts: { list: hosts.list, add: hosts.add, remove: hosts.remove } };
