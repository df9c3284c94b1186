/** Performs a fixed amount of arithmetic. Two workers cannot do this at the same time on one core, unlike waiting for a timer. */
export function work(steps) {
  let state = 1;
  for (let step = 0; step < steps; step += 1) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return state;
}
