/**
 * Kinds of the records about running daemons. Other records belong to the installation. A copy for another key store leaves these kinds out.
 */
export const runRecordKinds = { instance: "instance", drain: "instance-drain", signal: "signal" } as const;

/** SQL condition for the column `kind`: the record is not about a running daemon. */
export const isNoRunRecord = `kind NOT IN (${Object.values(runRecordKinds)
  .map((kind) => `'${kind}'`)
  .join(", ")})`;
