import { join, relative } from 'node:path';
import type { Settings } from '#host';

export type Greeting = {
  readonly settings: Settings;
  readonly caFile: string | null;
  /** The administrator's token, which is printed only once, at the first start. */
  readonly token: string | null;
  readonly tokenFile: string;
  /** A link by which the administrator can sign in once; null except at the first start. */
  readonly signInLink: string | null;
};

/** Returns the commands that take a first user from here to `terraform init`. */
export const formatGreeting = ({ settings, caFile, token, tokenFile, signInLink }: Greeting): string => {
  const host = new URL(settings.publicUrl).host;
  const near = (path: string): string => relative(process.cwd(), path) || path;
  const file = near(join(settings.dataFolder, tokenFile));
  // The commands do not contain the token itself, because they end up in histories and recordings of shells.
  const tokenExpression = settings.adminToken === null ? `$(cat ${file})` : '$CADASTRE_ADMIN_TOKEN';
  // Sets SSL_CERT_FILE for these commands only. In the whole shell it would hide other authorities from other programs.
  const authority = caFile ? `SSL_CERT_FILE=${caFile} ` : '';
  const variable = `TF_TOKEN_${host.replaceAll('-', '__').replaceAll('.', '_')}`;
  const terraform = `env ${authority}"${variable}=${tokenExpression}" terraform`;
  const lines = [
    '',
    `Cadastre is ready at ${settings.publicUrl}`,
    '',
    ...describeTokenLocation(settings, token, file),
    ...describeSignIn(signInLink),
    ...(caFile ? [`  Certificate authority: ${near(caFile)}`] : []),
    `  Kafka: ${settings.kafka ? settings.kafka.brokers.join(', ') : 'not configured (KAFKA_BROKERS)'}`,
    '',
    'Create an organization, then use it with terraform:',
    '',
    `  curl -sS ${caFile ? `--cacert ${near(caFile)} ` : ''}-H "Authorization: Bearer ${tokenExpression}" -H 'Content-Type: application/vnd.api+json' \\`,
    `    -d '{"data":{"type":"organizations","attributes":{"name":"acme","email":"ops@example.com"}}}' \\`,
    `    ${settings.publicUrl}/api/v2/organizations`,
    '',
    ...formatConfiguration(host),
    `  ${terraform} init`,
    `  ${terraform} apply`,
    '',
  ];
  return lines.join('\n');
};

const formatConfiguration = (host: string): string[] => [
  `  cat > main.tf <<'EOF'`,
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

const describeSignIn = (link: string | null): string[] =>
  link === null
    ? ['  Sign in with a browser: npm run -s cadastre -- user sign-in-link NAME creates a link']
    : [`  Sign in with a browser, once, in the next 15 minutes: ${link}`];

const describeTokenLocation = ({ adminToken }: Settings, token: string | null, file: string): string[] => {
  if (adminToken !== null) return ["  Administrator's token: as set in CADASTRE_ADMIN_TOKEN"];
  if (token === null) return [`  Administrator's token: in ${file}`];
  return [`  Administrator's token: ${token}`, `  (printed only this time; also stored in ${file})`];
};

export const greet = (greeting: Greeting): void => {
  process.stdout.write(`${formatGreeting(greeting)}\n`);
};
