import { readdirSync } from "node:fs";
import { childrenOf, pssBytes, rssBytes } from "../support/memory.mjs";

const megabyte = 1024 * 1024;

/** Returns the values of all processes at one moment. A process that ends during the sampling counts as stopped. */
export function sampleProcesses(pid) {
  const children = descendantsOf(pid);
  const sharesMb = children.map((child) => orNothing(() => pssBytes(child) / megabyte));
  return {
    processes: children.length,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    rssMb: rssBytes(pid) / megabyte,
    pssMb: pssBytes(pid) / megabyte,
    isolatesPssMb: sharesMb.reduce((sum, share) => sum + share, 0),
  };
}

function descendantsOf(pid) {
  const children = orNothing(() => childrenOf(pid)) || [];
  return [...children, ...children.flatMap(descendantsOf)];
}

function orNothing(read) {
  try {
    return read();
  } catch {
    return 0;
  }
}
