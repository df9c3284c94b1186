import { lazy, Suspense } from "react";
import { LoadingRows } from "../../components/loading-rows.js";
import type { PackageRef } from "./package-ref.js";

const FileBrowser = lazy(async () => ({ default: (await import("./file-browser.js")).FileBrowser }));

/** Loads the code of the file browser when it is first shown. */
export function LazyFileBrowser({ of }: { of: PackageRef }) {
  return (
    <Suspense fallback={<LoadingRows noun="file" />}>
      <FileBrowser of={of} />
    </Suspense>
  );
}
