const chunk = new Uint8Array(64 * 1024).fill(120);

/** GET responds with as many bytes as `?bytes` states. POST counts the bytes of the request body. */
export default {
  async fetch(request) {
    if (request.method === "POST") return new Response(String(await countBytes(request.body)));
    let left = Number(new URL(request.url).searchParams.get("bytes"));
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(chunk);
        left -= chunk.length;
        if (left <= 0) controller.close();
      },
    });
    return new Response(body);
  },
};

async function countBytes(body) {
  let total = 0;
  for await (const piece of body) total += piece.length;
  return total;
}
