/** Answers nobody before he has left. */
export default {
  fetch: (request) => new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(new Response("too late")))),
};
