import * as keys from "../../../shared/contract/keys.js";

export const keyOperations = {
  keys: { list: keys.list, meta: keys.meta, create: keys.create, rotate: keys.rotate, revoke: keys.revoke },
};
