// What the build supplies and no file exports.

/** Migrations are imported as text; the bundler and the test runner both know how. */
declare module '*.sql' {
  const text: string;
  export default text;
}

/**
 * Deliberate bugs, by which `npm run chaos -- --sabotage` shows that its checker can fail (test/chaos/sabotage.ts says
 * what each breaks). A build holds them only when it is asked to (scripts/build.mjs); every other build replaces the
 * variable by `undefined`, and what it guards is dropped as code that never runs.
 */
type ChaosSabotage =
  | 'lost-commit'
  | 'asked-twice'
  | 'two-winners'
  | 'silence-decides'
  | 'late-dropped'
  | 'false-receipt'
  | 'not-delivered'
  | 'nobody'
  | 'own-answer'
  | 'skipped-event'
  | 'repeated-event'
  | 'own-call-held';

/** Bugs that only a power cut shows: `npm run powerloss` must find them (test/powerloss/planted.ts). */
type PlantedFault = 'unflushed' | 'reused-numbers' | 'unflushed-copy';

type SabotageName = ChaosSabotage | PlantedFault;

/** Whether this bug is on; with `nth`, each n-th time that a process asks. */
declare var SABOTAGE: ((name: SabotageName, nth?: number) => boolean) | undefined;
