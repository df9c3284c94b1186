import { expect, test } from "vitest";
import { injectIntoPage } from "../../../../../src/server/workers/static/page-injection.js";

const exists = () => Promise.resolve(true);

test("injectIntoPage adds the prefix to paths of the site, but not in incomplete tags", async () => {
  const html = '<html><head></head><img src="/a.png"><img src="/b.png" <p title="1 > 0" data-src="/c.png">';
  const page = await injectIntoPage(html, { href: undefined, prefix: "/app" }, { variables: {}, exists });
  expect(page).toContain('<img src="/app/a.png">');
  expect(page).toContain('<img src="/b.png" <p');
});

test("injectIntoPage processes 500,000 tags that have no end", async () => {
  const html = "<img ".repeat(500_000);
  expect(await injectIntoPage(html, { href: undefined, prefix: "/app" }, { variables: {}, exists })).toHaveLength(html.length);
});
