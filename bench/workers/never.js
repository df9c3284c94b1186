/** A worker that does not respond before the client has disconnected. */
export default {
  fetch: (request) => new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(new Response("too late")))),
};
