import type { Client } from "../../src/shared/client.js";
import { uploadOf } from "./connect.js";
import { manifestOf, packFiles } from "./pack-files.js";

/** Uploads version 1.0.0 of a worker with these files. `manifest` contains additional lines of the manifest. */
export async function uploadWorker(client: Client, name: string, files: Readonly<Record<string, string>>, manifest = ""): Promise<void> {
  const archive = await packFiles({ ...files, "manifest.yaml": manifestOf(name, "1.0.0", manifest) });
  await client.workers.upload({ file: uploadOf("package.tgz", archive) });
}
