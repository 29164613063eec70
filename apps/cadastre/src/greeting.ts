import { join, relative } from 'node:path';
import type { Settings } from '#platform/settings';
import { ADMIN_TOKEN_FILE, type AdminAccess } from './admin-access.js';

type Greeting = {
  readonly settings: Settings;
  readonly caFile: string | null;
  readonly tokenSource: AdminAccess['token'];
  /** The link by which the administrator can sign in once, or where it is; null except at the first start. */
  readonly signInLink: string | null;
  readonly hasOrganizations: boolean;
  /** Who executes remote runs; null if the operator has decided that. */
  readonly remoteRuns: string | null;
};

const toRelative = (path: string): string => relative(process.cwd(), path) || path;

/**
 * Returns what an operator needs after the start. While the site has no organization, also the commands that take a first
 * user from here to `terraform apply`.
 */
export const formatGreeting = (greeting: Greeting): string => {
  const { settings, caFile, signInLink, hasOrganizations, remoteRuns } = greeting;
  return [
    '',
    `Cadastre is ready at ${settings.publicUrl}`,
    '',
    describeToken(greeting),
    describeSignIn(signInLink),
    ...(caFile ? [`  Certificate authority: ${toRelative(caFile)}`] : []),
    `  Kafka: ${settings.kafka ? settings.kafka.brokers.join(', ') : 'not configured (KAFKA_BROKERS)'}`,
    ...(remoteRuns === null ? [] : [`  Remote runs: ${remoteRuns}`]),
    '',
    ...(hasOrganizations ? [] : formatFirstSteps(greeting)),
  ].join('\n');
};

const getTokenFile = ({ dataFolder }: Settings): string => toRelative(join(dataFolder, ADMIN_TOKEN_FILE));

/** Commands never contain the token itself, because they end up in histories and recordings of shells. */
const formatTokenExpression = ({ settings, tokenSource }: Greeting): string => {
  if (tokenSource === 'file') return `$(cat ${getTokenFile(settings)})`;
  return tokenSource === 'settings' ? '$CADASTRE_ADMIN_TOKEN' : '$TOKEN';
};

const formatFirstSteps = (greeting: Greeting): string[] => {
  const { settings, caFile } = greeting;
  const token = formatTokenExpression(greeting);
  return [
    'Create an organization:',
    '',
    `  curl -sS ${caFile ? `--cacert ${toRelative(caFile)} ` : ''}-H "Authorization: Bearer ${token}" -H 'Content-Type: application/vnd.api+json' \\`,
    `    -d '{"data":{"type":"organizations","attributes":{"name":"acme","email":"ops@example.com"}}}' \\`,
    `    ${settings.publicUrl}/api/v2/organizations`,
    '',
    // terraform finds a server by HTTPS only.
    ...(settings.publicUrl.startsWith('https:') ? formatTerraformSteps(greeting, token) : []),
  ];
};

const formatTerraformSteps = ({ settings, caFile }: Greeting, token: string): string[] => {
  const host = new URL(settings.publicUrl).host;
  // Sets SSL_CERT_FILE for these commands only. In the whole shell it would hide other authorities from other programs.
  const authority = caFile ? `SSL_CERT_FILE=${caFile} ` : '';
  const variable = `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;
  // terraform uploads the folder of the configuration, and this one can be a clone with hundreds of MiB of packages.
  const terraform = `env ${authority}"${variable}=${token}" terraform -chdir=hello`;
  return [
    'Use it with terraform:',
    '',
    ...formatConfiguration(host),
    `  ${terraform} init`,
    `  ${terraform} apply`,
    '',
  ];
};

const formatConfiguration = (host: string): string[] => [
  `  mkdir -p hello && cat > hello/main.tf <<'EOF'`,
  'terraform {',
  '  cloud {',
  `    hostname     = "${host}"`,
  '    organization = "acme"',
  '    workspaces { name = "hello" }',
  '  }',
  '}',
  'resource "terraform_data" "hello" { input = "world" }',
  'EOF',
];

const describeSignIn = (link: string | null): string =>
  link === null
    ? '  Sign in with a browser: npm run -s cadastre -- user sign-in-link NAME creates a link'
    : `  Sign in with a browser, once, in the next 15 minutes: ${link}`;

const describeToken = ({ settings, tokenSource }: Greeting): string => {
  if (tokenSource === 'settings') return "  Administrator's token: as set in CADASTRE_ADMIN_TOKEN";
  if (tokenSource === 'file') return `  Administrator's token: in ${getTokenFile(settings)}`;
  return "  Administrator's token: not in this data folder; npm run -s cadastre -- token create --user NAME creates one";
};
