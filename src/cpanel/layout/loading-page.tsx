import { LoadingRows } from "../components/loading-rows.js";

/** Shown until the session is known. */
export function LoadingPage() {
  return (
    <main className="shell-main">
      <h1 className="visually-hidden">runtimed</h1>
      <LoadingRows noun="page" />
    </main>
  );
}
