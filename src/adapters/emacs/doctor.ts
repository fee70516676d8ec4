/** The doctor, asked from Emacs. */
import type { Methods } from './connection.ts';

export const doctorMethods: Methods = {
  async 'doctor/run'(_params, { hive }) {
    return { checks: await hive.doctor.run() };
  },
};
