import { Suspense } from "react";
import { LoadingRows } from "../components/loading-rows.js";
import { useRoute } from "../router/use-route.js";
import { NotFound } from "./not-found.js";
import { SectionBoundary } from "./section-boundary.js";
import { sections } from "./sections.js";

/** Renders the section that the current path names, or the page for unknown paths. */
export function SectionView() {
  const [path, ...rest] = useRoute().segments;
  const section = sections.find((candidate) => candidate.path === path);
  if (!section) return <NotFound />;
  const View = section.view;
  return (
    <SectionBoundary key={section.path}>
      <Suspense fallback={<LoadingRows noun="page" />}>
        <View rest={rest} />
      </Suspense>
    </SectionBoundary>
  );
}
