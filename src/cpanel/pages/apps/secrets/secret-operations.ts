import * as secrets from "../../../../shared/contract/secrets.js";

export const secretOperations = { secrets: { list: secrets.list, set: secrets.set, remove: secrets.remove } };
