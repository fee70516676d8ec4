import type { Methods } from './seat.ts';
/** The doctor, asked from Emacs. */

export const doctorMethods: Methods = {
  async 'doctor/run'(_params, { hive }) {
    return { checks: await hive.doctor.run() };
  },
};
