/** Migrations are imported as text; the bundler and the test runner both know how. */
declare module '*.sql' {
  const text: string;
  export default text;
}
