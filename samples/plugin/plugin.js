import { definePlugin } from "runtimectl/plugin";

/** Called anew for each reload, so state belongs in here and not beside it. */
export default definePlugin((config) => {
  let requests = 0;
  let counter;

  return {
    onInit(context) {
      counter = context.metrics.counter("sample_requests", "Requests that the sample plugin has seen.");
      context.logger.info("ready", { greeting: config.greeting });
    },

    // Sees every request that is not the API's, before it is answered.
    onRequest() {
      requests += 1;
      counter.add();
    },

    // Answers below /sample; the base is taken off the path.
    routes: {
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname !== "/") return new Response(null, { status: 404 });
        return Response.json({ greeting: config.greeting, requests });
      },
    },
  };
});
