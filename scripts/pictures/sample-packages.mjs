// The workers, plugins and keys of the sample daemon.

const page = (title) => `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1></html>\n`;

const shop = `const prices = { espresso: 320, filter: 410, decaf: 390 };

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/jobs/stock") return Response.json({ updated: 42 });
    const product = searchParams.get("product") ?? "espresso";
    if (!(product in prices)) return new Response("No such product", { status: 404 });
    await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 12));
    console.log(\`price of \${product} for \${env.CURRENCY} customers\`);
    return Response.json({ product, cents: prices[product], currency: env.CURRENCY });
  },
};
`;

const checkout = `export default {
  async fetch(request) {
    const cart = new URL(request.url).searchParams.get("cart");
    await new Promise((resolve) => setTimeout(resolve, 8 + Math.random() * 30));
    if (cart === "empty") {
      console.error("payment declined: the cart has no items");
      return new Response("Payment declined", { status: 502 });
    }
    console.log("order placed, cart", cart);
    return Response.json({ ok: true });
  },
};
`;

const invoices = `export default {
  fetch(request) {
    const number = new URL(request.url).searchParams.get("number");
    console.log("invoice", number);
    return Response.json({ number, total: 4900 });
  },
};
`;

const brokenInvoices = `import { customerOf } from "./customers.js";

export default {
  fetch(request) {
    const number = new URL(request.url).searchParams.get("number");
    if (number === null) return Response.json({ invoices: 412 });
    const customer = customerOf(number);
    return Response.json({ number, name: customer.name });
  },
};
`;

const customers = `const customers = { 1001: { name: "Ada Byron" } };

export function customerOf(number) {
  return customers[number];
}
`;

const reports = `export default {
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/nightly") {
      console.log("report sent to 14 recipients");
      return new Response(null, { status: 204 });
    }
    if (pathname === "/cleanup") {
      console.error("archive.example.org did not respond within 10 s");
      return new Response("Archive unavailable", { status: 503 });
    }
    return Response.json({ reports: 14 });
  },
};
`;

const webhooks = `export default {
  async fetch(request) {
    const event = new URL(request.url).searchParams.get("event");
    console.log(JSON.stringify({ level: "info", message: "webhook received", event }));
    return new Response(null, { status: 202 });
  },
};
`;

const shopManifest = `env:
  CURRENCY: EUR
  LOCALE: en-IE
secrets: [STRIPE_KEY, { name: SENTRY_DSN, optional: true }]
timeout: 10s
memory: 96mb
data: 50mb
hosts: [shop.example.org]
cron:
  - { schedule: "*/15 * * * *", endpoint: /jobs/stock, method: POST }
`;

const reportsManifest = `cron:
  - { schedule: "0 3 * * *", endpoint: /nightly, method: POST }
  - { schedule: "30 4 * * 1", endpoint: /cleanup, method: POST }
`;

/**
 * Deployments, oldest first: age in minutes, name of the key that deploys, message, and the files of the package. The sample daemon starts
 * once for each age.
 */
export const deployments = [
  {
    age: 13_000,
    by: "ada",
    message: "Add the employee handbook",
    name: "handbook",
    version: "1.0.3",
    files: { "index.html": page("Handbook") },
  },
  { age: 13_000, by: "ada", message: "Add the status page", name: "status", version: "1.2.0", files: { "index.html": page("Status") } },
  {
    age: 13_000,
    by: "ci-deploy",
    message: "Show prices in euros",
    name: "storefront",
    version: "2.4.0",
    manifest: shopManifest,
    files: { "index.js": shop, "lib/tax.js": "export const rate = 0.23;\n", "README.md": "# Storefront\n" },
  },
  { age: 13_000, by: "ci-deploy", message: "Accept webhooks", name: "@team/webhooks", version: "3.1.0", files: { "index.js": webhooks } },
  { age: 13_000, by: "ci-deploy", message: "List invoices", name: "@team/invoices", version: "1.2.0", files: { "index.js": invoices } },
  { age: 4400, by: "grace", message: "Take payments", name: "checkout", version: "1.8.0", files: { "index.js": checkout } },
  {
    age: 4400,
    by: "grace",
    message: "Send the nightly report",
    name: "@team/reports",
    version: "0.9.1",
    manifest: reportsManifest,
    files: { "index.js": reports },
  },
  {
    age: 300,
    by: "ci-deploy",
    message: "Add decaf to the menu",
    name: "storefront",
    version: "2.5.0",
    manifest: shopManifest,
    files: {
      "index.js": shop,
      "lib/tax.js": "export const rate = 0.21;\n",
      "README.md": "# Storefront\n",
      "public/robots.txt": "User-agent: *\n",
    },
  },
  { age: 300, by: "grace", message: "Round totals to cents", name: "checkout", version: "1.9.0", files: { "index.js": checkout } },
  {
    age: 9,
    by: "ci-deploy",
    message: "Show the customer's name",
    name: "@team/invoices",
    version: "1.3.0",
    files: { "index.js": brokenInvoices, "customers.js": customers },
  },
];

const ordersPage = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Orders</title>
<style>body { margin: 24px; font: 14px/1.5 system-ui, sans-serif; } td, th { padding: 6px 24px 6px 0; text-align: left; }</style>
<h1>Orders today</h1><table><tr><th>Shop</th><th>Orders</th></tr><tr><td>Leipzig</td><td>128</td></tr><tr><td>Porto</td><td>96</td></tr>
<tr><td>Gdańsk</td><td>71</td></tr></table></html>`;

const mailManifest = `sender: orders@example.org
greeting: Thank you for your order
queue: 200
footer: true
configSchema:
  type: object
  properties:
    sender: { type: string, description: "Address from which messages are sent" }
    greeting: { type: string, default: Hello, description: "First line of each message" }
    format: { enum: [text, html], default: text, description: "Format of the message body" }
    queue: { type: integer, default: 100, description: "Maximum number of messages that wait" }
    footer: { type: boolean, default: false, description: "Whether messages end with the address of the shop" }
`;

/** Plugins in the order of their installation. The key `ada` installs them with the oldest deployments. The last one fails to load. */
export const plugins = [
  { name: "sessions", version: "1.3.0", files: { "plugin.js": "export default { onRequest() {} };\n" } },
  { name: "mailer", version: "2.0.0", manifest: mailManifest, files: { "plugin.js": "export default {};\n" } },
  {
    name: "@team/orders",
    version: "0.4.2",
    manifest:
      "base: /orders\ndependencies: [sessions]\nentrypoint: page/index.html\nmenus:\n  - { title: Orders, icon: chart, path: /orders/ }\n",
    files: { "plugin.js": "export default {};\n", "page/index.html": ordersPage },
  },
  {
    name: "geo-block",
    version: "0.2.0",
    files: { "plugin.js": 'import { lookup } from "./countries.js";\n\nexport default { onRequest: (request) => lookup(request) };\n' },
  },
];

export const keys = [
  { name: "ci-deploy", role: "editor", expiresIn: "90d" },
  { name: "ada", role: "admin", expiresIn: "1y" },
  { name: "grace", role: "editor", expiresIn: "1y" },
  { name: "grafana", role: "viewer", expiresIn: "never" },
  { name: "reports-nightly", role: "custom", permissions: ["workers:read", "workers:restart"], namespaces: ["@team"], expiresIn: "15d" },
];

/** Requests per minute of each worker, at noon, with the share that fails. Paths are below the worker. */
export const traffic = [
  { name: "storefront", perMinute: 180, failedShare: 0, p50Ms: 9, path: () => `?product=${oneOf("espresso", "filter", "decaf")}` },
  {
    name: "checkout",
    perMinute: 60,
    failedShare: 0.04,
    p50Ms: 24,
    path: () => `?cart=${Math.random() < 0.06 ? "empty" : oneOf("c81f", "a02b", "77de")}`,
  },
  {
    name: "@team/webhooks",
    perMinute: 45,
    failedShare: 0,
    p50Ms: 3,
    path: () => `?event=${oneOf("order.paid", "order.shipped", "refund")}`,
  },
  { name: "@team/invoices", perMinute: 30, failedShare: 0, p50Ms: 4, path: () => `?number=${oneOf("1001", "1002", "1003", "1004")}` },
  { name: "handbook", perMinute: 8, failedShare: 0, p50Ms: 1, path: () => "" },
];

function oneOf(...values) {
  return values[Math.floor(Math.random() * values.length)];
}
