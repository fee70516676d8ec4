import { takesNothing } from './params.ts';
import type { Methods } from './seat.ts';
/** The doctor, asked from Emacs. */

export const doctorMethods: Methods = {
  'doctor/run': takesNothing(async ({ hive }) => {
    return { checks: await hive.doctor.run() };
  }),
};
