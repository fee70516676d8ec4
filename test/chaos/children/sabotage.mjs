// Imported into every process of a run that shows whether the checker can fail: turns on the deliberate bug that
// HIVE_CHAOS_SABOTAGE names. Counted, not drawn by lot, so that a seed that found one finds it again.
const bug = process.env.HIVE_CHAOS_SABOTAGE;
let asked = 0;

globalThis.SABOTAGE = (name, nth = 1) => {
  if (name !== bug) return false;
  asked += 1;
  return asked % nth === 0;
};
