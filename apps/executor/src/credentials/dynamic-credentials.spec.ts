import { describe, expect, it } from '@jest/globals';
import type { Phase } from '../api/executor-api.js';
import { CredentialSettings } from './credential-settings.js';
import { buildDynamicCredentials } from './dynamic-credentials.js';

const build = async (environment: Record<string, string>, phase: Phase = 'plan') => {
  const files: Record<string, string> = {};
  const credentials = await buildDynamicCredentials(
    new CredentialSettings(new Map(Object.entries(environment)), phase),
    {
      requestToken: (audience) => Promise.resolve(`jwt for ${audience}`),
      write: (name, content) => {
        files[name] = content;
        return Promise.resolve(`/credentials/${name}`);
      },
      logIn: ({ address, path, role, namespace, token }) =>
        Promise.resolve(`vault token: ${[address, path, role, namespace, token].join(' ')}`),
    },
  );
  return { ...credentials, files };
};

describe('dynamic credentials', () => {
  it('are empty if no variable switches them on', async () => {
    const none = { environment: {}, variables: {}, secrets: [], files: {} };
    expect(await build({ AWS_REGION: 'eu-central-1' })).toEqual(none);
    expect(await build({ TFC_AWS_PROVIDER_AUTH: 'false', TFC_AWS_RUN_ROLE_ARN: 'arn:run' })).toEqual(none);
  });

  it('of AWS are a role and a file with the token', async () => {
    const { environment, files, secrets } = await build({
      TFC_AWS_PROVIDER_AUTH: 'true',
      TFC_AWS_RUN_ROLE_ARN: 'arn:run',
    });
    expect(environment).toEqual({
      AWS_ROLE_ARN: 'arn:run',
      AWS_WEB_IDENTITY_TOKEN_FILE: '/credentials/aws-token',
    });
    expect(files['aws-token']).toBe('jwt for aws.workload.identity');
    expect(secrets).toEqual(['jwt for aws.workload.identity']);
  });

  it.each([
    ['plan', 'arn:plan'],
    ['apply', 'arn:run'],
  ] as const)('use the values of the phase %s before those of both', async (phase, role) => {
    const { environment } = await build(
      { TFC_AWS_PROVIDER_AUTH: 'true', TFC_AWS_RUN_ROLE_ARN: 'arn:run', TFC_AWS_PLAN_ROLE_ARN: 'arn:plan' },
      phase,
    );
    expect(environment['AWS_ROLE_ARN']).toBe(role);
  });

  it('with tags are members of a variable, with defaults for what a tag does not set', async () => {
    const { environment, variables, files } = await build({
      TFC_AWS_PROVIDER_AUTH_EAST: 'true',
      TFC_AWS_PROVIDER_AUTH_WEST: 'true',
      TFC_AWS_RUN_ROLE_ARN_EAST: 'arn:east',
      TFC_DEFAULT_AWS_RUN_ROLE_ARN: 'arn:default',
      TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE_EAST: 'east',
    });
    expect(environment).toEqual({});
    expect(JSON.parse(variables['tfc_aws_dynamic_credentials'] ?? '')).toEqual({
      default: {},
      aliases: {
        EAST: { shared_config_file: '/credentials/aws-config-EAST' },
        WEST: { shared_config_file: '/credentials/aws-config-WEST' },
      },
    });
    expect(files['aws-token-EAST']).toBe('jwt for east');
    expect(files['aws-config-WEST']).toBe(
      '[default]\nrole_arn = arn:default\nweb_identity_token_file = /credentials/aws-token-WEST\n',
    );
  });

  it('of Google Cloud are a file that impersonates the service account', async () => {
    const { environment, files } = await build({
      TFC_GCP_PROVIDER_AUTH: 'true',
      TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL: 'shop@acme.iam.gserviceaccount.com',
      TFC_GCP_PROJECT_NUMBER: '42',
      TFC_GCP_WORKLOAD_POOL_ID: 'pool',
      TFC_GCP_WORKLOAD_PROVIDER_ID: 'cadastre',
    });
    const provider = '//iam.googleapis.com/projects/42/locations/global/workloadIdentityPools/pool/providers/cadastre';
    expect(environment).toEqual({ GOOGLE_CREDENTIALS: '/credentials/gcp-credentials.json' });
    expect(files['gcp-token']).toBe(`jwt for ${provider}`);
    expect(JSON.parse(files['gcp-credentials.json'] ?? '')).toMatchObject({
      type: 'external_account',
      audience: provider,
      credential_source: { file: '/credentials/gcp-token' },
      service_account_impersonation_url: expect.stringContaining('/shop@acme.iam.gserviceaccount.com:'),
    });
  });

  it('of Azure, Kubernetes and others are tokens', async () => {
    const { environment } = await build({
      TFC_AZURE_PROVIDER_AUTH: 'true',
      TFC_AZURE_RUN_CLIENT_ID: 'client',
      TFC_KUBERNETES_PROVIDER_AUTH: 'true',
      TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE: 'cluster',
      TFC_WORKLOAD_IDENTITY_AUDIENCE: 'mine',
      TFC_WORKLOAD_IDENTITY_AUDIENCE_OTHER: 'theirs',
    });
    expect(environment).toEqual({
      ARM_CLIENT_ID: 'client',
      ARM_OIDC_TOKEN: 'jwt for api://AzureADTokenExchange',
      ARM_USE_OIDC: 'true',
      KUBE_TOKEN: 'jwt for cluster',
      TFC_WORKLOAD_IDENTITY_TOKEN: 'jwt for mine',
      TFC_WORKLOAD_IDENTITY_TOKEN_OTHER: 'jwt for theirs',
    });
  });

  it('of Vault are its token for the role of the phase', async () => {
    const { environment, secrets } = await build({
      TFC_VAULT_PROVIDER_AUTH: 'true',
      TFC_VAULT_ADDR: 'https://vault.example.com',
      TFC_VAULT_NAMESPACE: 'team',
      TFC_VAULT_PLAN_ROLE: 'reader',
    });
    const token = 'vault token: https://vault.example.com jwt reader team jwt for vault.workload.identity';
    expect(environment).toEqual({
      VAULT_ADDR: 'https://vault.example.com',
      VAULT_NAMESPACE: 'team',
      VAULT_TOKEN: token,
    });
    expect(secrets).toEqual(['jwt for vault.workload.identity', token]);
  });

  it('name the variable that is missing, and refuse tags that are no names of files', async () => {
    await expect(build({ TFC_AWS_PROVIDER_AUTH: 'true' })).rejects.toThrow(
      'Dynamic credentials need the environment variable TFC_AWS_PLAN_ROLE_ARN or TFC_AWS_RUN_ROLE_ARN.',
    );
    await expect(build({ TFC_KUBERNETES_PROVIDER_AUTH_EAST: 'true' })).rejects.toThrow(
      'TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE_EAST or TFC_DEFAULT_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE',
    );
    await expect(build({ 'TFC_AWS_PROVIDER_AUTH_../../etc': 'true' })).rejects.toThrow('must have at most 64 letters');
  });
});
