import { ApiError } from "../../../shared/api-error.js";
import type { list, Worker } from "../../../shared/contract/workers.js";
import { latestVersion } from "../../../shared/package-name.js";
import type { Context } from "../../command.js";
import type { Connection } from "../../connection.js";

type Listing = Connection<{ workers: { list: typeof list } }>;

/** The URL under which this version answers: the worker's own, or the pinned one when another version answers there. */
export async function answeringUrl(
  { output }: Context,
  connection: Listing,
  uploaded: { readonly name: string; readonly version: string },
): Promise<string> {
  const { name, version } = uploaded;
  const worker = await findWorker(connection, name);
  const url = `${connection.origin}/${name}/`;
  if (worker === undefined || answeringVersion(worker) === version) return url;
  if (worker.disabledVersions.includes(version)) {
    output.warn(`${name}@${version} is off, as its manifest says; to serve it: runtimectl workers enable ${name}@${version}`);
    return url;
  }
  output.warn(`${url} is answered by ${answeringVersion(worker)}; this version answers under its own URL only`);
  return `${connection.origin}/${name}@${version}/`;
}

/** An enabled `latest`, else the highest enabled stable version, else the highest enabled prerelease; `versions` comes newest first. */
function answeringVersion({ versions, disabledVersions }: Worker): string | undefined {
  const enabled = versions.filter((version) => !disabledVersions.includes(version));
  if (enabled.includes(latestVersion)) return latestVersion;
  return enabled.find((version) => !version.split("+")[0]?.includes("-")) ?? enabled[0];
}

/** Undefined also when the key may upload but not list. */
async function findWorker({ client }: Listing, name: string): Promise<Worker | undefined> {
  try {
    return (await client.workers.list()).find((worker) => worker.name === name);
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    throw error;
  }
}
