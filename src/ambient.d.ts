// Names that the build supplies, and types for packages without them.

/** Migrations are imported as text; the bundler and the test runner both know how. */
declare module '*.sql' {
  const text: string;
  export default text;
}

/** The package has no types. It finds the password of a connection in PGPASSFILE or ~/.pgpass. */
declare module 'pgpass' {
  function pgpass(connection: pgpass.Connection, found: (password: string | undefined) => void): void;
  namespace pgpass {
    type Connection = Readonly<Record<'host' | 'port' | 'database' | 'user', unknown>>;
  }
  export default pgpass;
}

/**
 * Deliberate bugs, by which `npm run chaos -- --sabotage` shows that its checker can fail: test/chaos/children/sabotage.ts
 * replaces parts of the store or of the services by wrong ones. Only the composition root (open-hive.ts) uses
 * it, and only in a build that asks for it (scripts/build.mjs). Every other build replaces the variable by `undefined`, and the
 * bundler drops the code that it guards.
 */
declare var SABOTAGE:
  | {
      store(store: import('./application/ports.ts').Store): import('./application/ports.ts').Store;
      services<Services extends Partial<import('./application/hive.ts').Hive>>(services: Services): Services;
    }
  | undefined;
