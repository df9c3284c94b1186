import { Link, Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
export default function Root() {
  return (
    <html lang="en">
      <head><meta charSet="utf-8" /><Meta /><Links /></head>
      <body><nav><Link to="/">Home</Link> <Link to="/about">About</Link></nav><Outlet /><ScrollRestoration /><Scripts /></body>
    </html>
  );
}
