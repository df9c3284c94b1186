/** The package's main module loads clients of a dozen databases; this one does not, but has no types of its own. */
declare module "rate-limiter-flexible/lib/RateLimiterMemory.js" {
  import { RateLimiterMemory } from "rate-limiter-flexible";
  export default RateLimiterMemory;
}
