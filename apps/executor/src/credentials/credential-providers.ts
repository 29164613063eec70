import type { CredentialSettings } from './credential-settings.js';
import type { VaultLogin } from './vault-login.js';

/** What a configuration of a provider needs to be written for a run. */
export type ProviderContext = {
  readonly settings: CredentialSettings;
  readonly tag: string | null;
  /** The JSON Web Token of the run for the audience of the configuration. */
  readonly token: string;
  /** Writes a file that only the run can read. Returns its path in the run. */
  readonly write: (name: string, content: string) => Promise<string>;
  /** Exchanges the token for one of Vault. Resolves to the token. */
  readonly logIn: (login: VaultLogin) => Promise<string>;
};

type ProviderCredentials = {
  /** Environment of the configuration without a tag. */
  readonly environment: Readonly<Record<string, string>>;
  /** Member of the variable `tfc_…_dynamic_credentials`, for configurations with tags. */
  readonly member: Readonly<Record<string, string>>;
};

type CredentialProvider = {
  readonly getAudience: (settings: CredentialSettings, tag: string | null) => string;
  readonly build: (context: ProviderContext) => Promise<ProviderCredentials>;
};

const findAudience = (provider: string, standard: string) => (settings: CredentialSettings, tag: string | null) =>
  settings.find(provider, 'WORKLOAD_IDENTITY_AUDIENCE', tag) ?? standard;

/** Returns the name of a file, which differs for each tag. */
const nameFile = (name: string, tag: string | null): string => (tag === null ? name : `${name}-${tag}`);

const aws: CredentialProvider = {
  getAudience: findAudience('AWS', 'aws.workload.identity'),
  build: async ({ settings, tag, token, write }) => {
    const role = settings.requireOfPhase('AWS', 'ROLE_ARN', tag);
    const file = await write(nameFile('aws-token', tag), token);
    const config = `[default]\nrole_arn = ${role}\nweb_identity_token_file = ${file}\n`;
    return {
      environment: { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: file },
      member: { shared_config_file: await write(nameFile('aws-config', tag), config) },
    };
  },
};

/** Returns the name of the provider in the workload identity pool. @see https://google.aip.dev/auth/4117 */
const nameGcpProvider = (settings: CredentialSettings, tag: string | null): string => {
  const name = settings.find('GCP', 'WORKLOAD_PROVIDER_NAME', tag);
  if (name !== undefined) return name;
  const [project, pool, provider] = ['PROJECT_NUMBER', 'WORKLOAD_POOL_ID', 'WORKLOAD_PROVIDER_ID'].map((part) =>
    settings.require('GCP', part, tag),
  );
  return `projects/${project}/locations/global/workloadIdentityPools/${pool}/providers/${provider}`;
};

const gcp: CredentialProvider = {
  getAudience: (settings, tag) =>
    settings.find('GCP', 'WORKLOAD_IDENTITY_AUDIENCE', tag) ?? `//iam.googleapis.com/${nameGcpProvider(settings, tag)}`,
  build: async ({ settings, tag, token, write }) => {
    const account = settings.requireOfPhase('GCP', 'SERVICE_ACCOUNT_EMAIL', tag);
    const file = await write(nameFile('gcp-token', tag), token);
    const credentials = await write(
      nameFile('gcp-credentials.json', tag),
      JSON.stringify({
        type: 'external_account',
        audience: `//iam.googleapis.com/${nameGcpProvider(settings, tag)}`,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: 'https://sts.googleapis.com/v1/token',
        credential_source: { file, format: { type: 'text' } },
        service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
      }),
    );
    return { environment: { GOOGLE_CREDENTIALS: credentials }, member: { credentials } };
  },
};

const azure: CredentialProvider = {
  getAudience: findAudience('AZURE', 'api://AzureADTokenExchange'),
  build: async ({ settings, tag, token, write }) => {
    const client = settings.requireOfPhase('AZURE', 'CLIENT_ID', tag);
    return {
      environment: { ARM_CLIENT_ID: client, ARM_OIDC_TOKEN: token, ARM_USE_OIDC: 'true' },
      member: {
        client_id_file_path: await write(nameFile('azure-client-id', tag), client),
        oidc_token_file_path: await write(nameFile('azure-token', tag), token),
      },
    };
  },
};

const vault: CredentialProvider = {
  getAudience: findAudience('VAULT', 'vault.workload.identity'),
  build: async ({ settings, tag, token, write, logIn }) => {
    const address = settings.require('VAULT', 'ADDR', tag);
    const namespace = settings.find('VAULT', 'NAMESPACE', tag) ?? '';
    const path = settings.find('VAULT', 'AUTH_PATH', tag) ?? 'jwt';
    const role = settings.requireOfPhase('VAULT', 'ROLE', tag);
    const encoded = settings.find('VAULT', 'ENCODED_CACERT', tag);
    const authority = encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
    const secret = await logIn({ address, namespace, path, role, authority, token });
    const authorityFile = authority === null ? '' : await write(nameFile('vault-ca.pem', tag), authority);
    return {
      environment: {
        VAULT_ADDR: address,
        VAULT_TOKEN: secret,
        ...(namespace === '' ? {} : { VAULT_NAMESPACE: namespace }),
        ...(authorityFile === '' ? {} : { VAULT_CACERT: authorityFile }),
      },
      member: {
        token_filename: await write(nameFile('vault-token', tag), secret),
        address,
        namespace,
        ca_cert_file: authorityFile,
      },
    };
  },
};

const kubernetes: CredentialProvider = {
  getAudience: (settings, tag) => settings.require('KUBERNETES', 'WORKLOAD_IDENTITY_AUDIENCE', tag),
  build: async ({ tag, token, write }) => ({
    environment: { KUBE_TOKEN: token },
    member: { token_path: await write(nameFile('kubernetes-token', tag), token) },
  }),
};

/** By their names in variables: `TFC_AWS_PROVIDER_AUTH`. */
export const CREDENTIAL_PROVIDERS: Readonly<Record<string, CredentialProvider>> = {
  AWS: aws,
  GCP: gcp,
  AZURE: azure,
  VAULT: vault,
  KUBERNETES: kubernetes,
};
