import { LoadingRows } from "../components/loading-rows.js";

/** Page that is shown while the panel checks whether a session exists. */
export function LoadingPage() {
  return (
    <main className="shell-main">
      <h1 className="visually-hidden">runtimed</h1>
      <LoadingRows noun="page" />
    </main>
  );
}
