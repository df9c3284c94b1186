import { LoadingRows } from "../components/loading-rows.js";

/** Before it is known who is here. */
export function LoadingPage() {
  return (
    <main className="shell-main">
      <h1 className="visually-hidden">runtimed</h1>
      <LoadingRows noun="page" />
    </main>
  );
}
