import { createRootRoute, HeadContent, Link, Outlet, Scripts } from "@tanstack/react-router";
export const Route = createRootRoute({
  component: () => (
    <html lang="en">
      <head><HeadContent /></head>
      <body><nav><Link to="/">Home</Link> <Link to="/about">About</Link></nav><Outlet /><Scripts /></body>
    </html>
  ),
});
