/** A fixed amount of arithmetic: unlike waiting for the clock it cannot be done by two at once on one core. */
export function work(steps) {
  let state = 1;
  for (let step = 0; step < steps; step += 1) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return state;
}
