import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/folders.js';
import { table } from './tables.js';

const CHART = join(ROOT, 'deploy/helm/cadastre');

type ValueSchema = {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
};

type ChartValue = { readonly path: string; readonly description: string; readonly initial: unknown };

const isGroup = ({ properties, description }: ValueSchema): boolean =>
  properties !== undefined && description === undefined;

/** Returns the values that the schema of the chart describes, in its order, with their defaults. */
const listValues = ({ properties = {} }: ValueSchema, defaults: unknown, prefix = ''): ChartValue[] =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const path = prefix + name;
    const initial = (defaults as Record<string, unknown> | undefined)?.[name];
    if (isGroup(schema)) return listValues(schema, initial, `${path}.`);
    return name === 'global' ? [] : [{ path, initial, description: schema.description ?? '' }];
  });

const formatDefault = (value: unknown): string => {
  if (value === undefined) return 'required';
  const isEmpty = value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return isEmpty ? '–' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
};

/** Renders the reference of the values of the Helm chart. */
export const chartValuesPage = async (notice: string): Promise<string> => {
  const schema = JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')) as ValueSchema;
  const defaults: unknown = parse(await readFile(join(CHART, 'values.yaml'), 'utf8'));
  const rows = listValues(schema, defaults).map(({ path, initial, description }) => [
    `\`${path}\``,
    formatDefault(initial),
    description,
  ]);
  return [
    '# Values of the Helm chart',
    '',
    notice,
    '',
    'On this page you can look up the values of the chart in `deploy/helm/cadastre`. Helm refuses any other value.',
    '[Deploy on Kubernetes](../how-to/deploy-on-kubernetes.md) shows how to use them.',
    '',
    table(['Value', 'Default', 'Meaning'], rows),
    '',
    '## Keys of the secrets',
    '',
    table(
      ['Secret', 'Key', 'When it is needed'],
      [
        ['`existingSecret`', '`encryption-key`', 'always: 32 bytes in base64, or with `vault.address` a wrapped key'],
        ['`existingSecret`', '`admin-token`', 'always: the token of the first administrator, at least 20 characters'],
        ['`existingSecret`', '`database-url`', 'with an external Postgres: its URL, with user and password'],
        ['`existingSecret`', '`kafka-sasl-password`', 'if `kafka.sasl.mechanism` is PLAIN or SCRAM'],
        ['`existingSecret`', '`kafka-sasl-client-secret`', 'if `kafka.sasl.mechanism` is OAUTHBEARER'],
        ['`existingSecret`', '`oidc-client-secret`', 'with `oidc.issuer`, unless the client has no secret'],
        ['`existingSecret`', '`smtp-url`', 'with `smtp.from`: smtps://USER:PASSWORD@HOST:PORT or smtp://…'],
        ['`existingSecret`', '`postgres-password`', 'with `postgres.trial.enabled`: only letters and digits'],
        ['`existingSecret`', '`access-key-id`, `secret-access-key`', 'with `files.trial.enabled`: any values'],
        ['`files.s3.existingSecret`', '`access-key-id`, `secret-access-key`', 'unless the pods have a role'],
        ['`kafka.tls.existingSecret`', '`ca.crt`', 'if a private authority signs certificates of the brokers'],
        ['`kafka.tls.existingSecret`', '`tls.crt`, `tls.key`', 'with `kafka.tls.clientCertificate`'],
        ['`vault.existingSecret`', '`credential`', 'the token or the secret id, unless `vault.auth` is kubernetes'],
        ['`vault.existingSecret`', '`ca.crt`', 'with `vault.hasCa`'],
        ['`executor.existingSecret`', '`token`', 'with `executor.enabled`: the token of an agent pool'],
        ['`gateway.tls.existingSecret`', '`tls.crt`, `tls.key`', 'if gateways terminate TLS'],
      ],
    ),
    '',
  ].join('\n');
};
