/**
 * The direction of imports (docs/internals/architecture.md): every arrow points down, and none leads in a circle. A type-only
 * import is an arrow too. What each folder of src/ may see, besides itself and src/version.ts:
 */
const layers = {
  domain: [],
  application: ['domain/'],
  infrastructure: ['application/(ports|world)', 'domain/'],
  schemas: ['application/', 'domain/'],
  'extensions/postgres': ['infrastructure/store/', 'application/(ports|world)', 'domain/'],
  // Its commands use what the CLI gives to every command. The agents of some editors take MCP over HTTP only, those of others are in Emacs.
  'extensions/editors': [
    'cli/(exit-codes|output|program)\\.ts',
    'open-hive\\.ts',
    'adapters/mcp/over-http\\.ts',
    'adapters/emacs/(frames|method)\\.ts',
    'adapters/[^/]+\\.ts',
    'schemas/characters\\.ts',
    'infrastructure/platform/',
    'application/',
    'domain/',
  ],
  'extensions/serve': [
    'cli/(actor|exit-codes|output|program)\\.ts',
    'open-hive\\.ts',
    'adapters/(hooks|mcp)/',
    'adapters/[^/]+\\.ts',
    'infrastructure/platform/',
    'application/',
    'domain/',
  ],
  // Hooks, commands, a server for its clients, and a library of its own, like index.ts, that speaks with its client as the hooks do.
  'extensions/runs': [
    'cli/(actor|exit-codes|output|program)\\.ts',
    'open-hive\\.ts',
    'adapters/hooks/',
    'adapters/mcp/(server|stdio)\\.ts',
    'infrastructure/platform/',
    'application/',
    'domain/',
  ],
  // It calls the methods of a desk, so that a phone and Emacs do the same.
  'extensions/inbox': [
    'cli/(actor|exit-codes|output)\\.ts',
    'adapters/emacs/',
    'adapters/[^/]+\\.ts',
    'schemas/',
    'infrastructure/platform/',
    'application/',
    'domain/',
  ],
  // The page runs in a browser.
  'extensions/inbox/page': ['extensions/inbox/(device|pushes)\\.ts', 'domain/'],
  'extensions.ts': ['extensions/', 'infrastructure/', 'application/', 'domain/'],
  'open-hive.ts': ['extensions\\.ts', 'schemas/', 'infrastructure/', 'application/', 'domain/'],
  // Of extensions, only what the rule below allows to src/cli/extensions.ts.
  cli: ['extensions/', 'extensions\\.ts', 'open-hive\\.ts', 'adapters/', 'schemas/', 'infrastructure/', 'application/', 'domain/'],
  'index.ts': ['open-hive\\.ts', 'adapters/', 'schemas/', 'infrastructure/', 'application/', 'domain/'],
};

/** Modules that come from outside src/: packages, and what Node brings. */
const OUTSIDE = '^(node_modules/|node:)';

const directions = Object.entries(layers).map(([layer, below]) => ({
  name: `${layer} sees only what lies below it`,
  severity: 'error',
  from: { path: `^src/${layer}` },
  to: { path: '^src/', pathNot: [`^src/${layer}`, '^src/version\\.ts$', ...below.map((path) => `^src/${path}`)] },
}));

export default {
  forbidden: [
    {
      name: 'only src/extensions.ts and src/cli/extensions.ts name an extension',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli/)?extensions(\\.ts$|/)' },
      to: { path: '^src/extensions/' },
    },
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    ...directions,
    {
      name: 'the domain is pure: no package, and nothing of Node',
      severity: 'error',
      from: { path: '^src/domain' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'an adapter sees no other adapter and no infrastructure',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: {
        path: '^src/',
        // The files that lie directly in src/adapters/ are shared by all of them.
        pathNot: ['^src/adapters/$1/', '^src/adapters/[^/]+\\.ts$', '^src/(schemas|application|domain)/', '^src/version\\.ts$'],
      },
    },
    {
      name: 'what the adapters share belongs to none of them',
      severity: 'error',
      from: { path: '^src/adapters/[^/]+\\.ts$' },
      to: { path: '^src/', pathNot: ['^src/adapters/[^/]+\\.ts$', '^src/(schemas|application|domain)/', '^src/version\\.ts$'] },
    },
    {
      name: 'only the store reads SQL files',
      severity: 'error',
      from: { pathNot: '^src/infrastructure/store/' },
      to: { path: '^sql/' },
    },
    {
      name: 'every file has a layer',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(layers), 'adapters/', 'version\\.ts', 'sql\\.d\\.ts'].map((path) => `^src/${path}`) },
      to: {},
    },
  ],
  options: {
    // TypeScript 7 has no parser for others to call, so swc reads the files, type-only imports included.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: OUTSIDE },
    // It cannot read JSX. What the page of the inbox may import, scripts/build-inbox.mjs checks in the bundle.
    exclude: { path: '\\.tsx$' },
  },
};
