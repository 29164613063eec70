/** The kinds of Git hosts that clients know. The last two are Cadastre's own. */
export const SERVICE_PROVIDERS = {
  github: 'GitHub',
  github_enterprise: 'GitHub Enterprise',
  gitlab_hosted: 'GitLab',
  gitlab_community_edition: 'GitLab Community Edition',
  gitlab_enterprise_edition: 'GitLab Enterprise Edition',
  bitbucket_hosted: 'Bitbucket Cloud',
  bitbucket_server: 'Bitbucket Server',
  bitbucket_server_legacy: 'Bitbucket Server Legacy',
  bitbucket_data_center: 'Bitbucket Data Center',
  ado_services: 'Azure DevOps Services',
  ado_server: 'Azure DevOps Server',
  gitea: 'Gitea',
  forgejo: 'Forgejo',
} as const;

export type ServiceProvider = keyof typeof SERVICE_PROVIDERS;

/** The kinds of hosts that can be connected. */
export const CONNECTED_PROVIDERS = [
  'github',
  'github_enterprise',
  'gitlab_hosted',
  'gitlab_community_edition',
  'gitlab_enterprise_edition',
  'gitea',
  'forgejo',
] as const satisfies readonly ServiceProvider[];
export type ConnectedProvider = (typeof CONNECTED_PROVIDERS)[number];

export const isConnectedProvider = (provider: ServiceProvider): provider is ConnectedProvider =>
  CONNECTED_PROVIDERS.some((connected) => connected === provider);
