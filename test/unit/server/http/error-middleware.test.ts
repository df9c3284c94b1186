import Koa from "koa";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { errorMiddleware } from "../../../../src/server/http/error-middleware.js";
import { createLog } from "../../../../src/server/log/log.js";
import { ApiError, type ErrorBody } from "../../../../src/shared/api-error.js";
import type { Permission } from "../../../../src/shared/permissions.js";

const details = { kind: "restored", missingCount: 1, missing: [{ revision: 5, changes: ['key 5 "deploys"'] }] };

/** Returns the details of an INDEX_DIVERGED error for a key. */
async function detailsFor(key: { permissions: Permission[]; namespaces: string[] } | undefined): Promise<unknown> {
  const app = new Koa();
  const log = createLog({ level: "silent" });
  app.use(errorMiddleware({ log, allowedMethods: () => [], isStopping: () => false, onFailure: () => undefined }));
  app.use((context) => {
    if (key) context.state["principal"] = { id: 1, name: "deploys", keyPrefix: "", role: "custom", ...key };
    throw new ApiError("INDEX_DIVERGED", "Nothing was changed.", { details });
  });
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(response.status).toBe(503);
  return ((await response.json()) as ErrorBody).error.details;
}

test("an INDEX_DIVERGED error lists missing changes for a key that can read all keys", async () => {
  expect(await detailsFor({ permissions: ["keys:read"], namespaces: ["*"] })).toEqual(details);
});

test("an INDEX_DIVERGED error omits missing changes for all other callers", async () => {
  expect(await detailsFor({ permissions: ["workers:install"], namespaces: ["*"] })).toBeUndefined();
  expect(await detailsFor({ permissions: ["keys:read"], namespaces: ["@team"] })).toBeUndefined();
  expect(await detailsFor(undefined)).toBeUndefined();
});
