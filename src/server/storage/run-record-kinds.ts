/**
 * Kinds of the records about running daemons. All other records belong to the installation. A copy of the records for another key store
 * omits these kinds.
 */
export const runRecordKinds = { instance: "instance", drain: "instance-drain", signal: "signal" } as const;

/** SQL condition for the column `kind`: the record is not about a running daemon. */
export const isNoRunRecord = `kind NOT IN (${Object.values(runRecordKinds)
  .map((kind) => `'${kind}'`)
  .join(", ")})`;
