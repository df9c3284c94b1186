/**
 * Types for a module of rate-limiter-flexible that has no types itself. The main module of that package is not used, because it loads the
 * clients of a dozen databases.
 */
declare module "rate-limiter-flexible/lib/RateLimiterMemory.js" {
  import { RateLimiterMemory } from "rate-limiter-flexible";
  export default RateLimiterMemory;
}
