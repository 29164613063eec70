/** What a person needs to know to connect a kind of Git host. */
export type HostKind = {
  readonly label: string;
  /** The address of the host; null if each organization has its own. */
  readonly url: string | null;
  /** Returns the address of the API of a host. */
  readonly toApiUrl: (url: string) => string;
  /** The page of the host on which a person creates a token. */
  readonly tokenPage: string;
  /** The page of the host on which a person registers an OAuth application. */
  readonly applicationPage: string;
  /** The permissions that the token needs. */
  readonly permissions: string;
};

type HostRules = Omit<HostKind, 'label'>;

const gitea = {
  url: null,
  toApiUrl: (url) => `${url}/api/v1`,
  tokenPage: '/user/settings/applications',
  applicationPage: '/user/settings/applications',
  permissions:
    'Read for “user”, and read and write for “repository”. The account is an administrator of the repositories. For comments on pull requests, also read and write for “issue”.',
} satisfies HostRules;

const github = {
  url: 'https://github.com',
  toApiUrl: () => 'https://api.github.com',
  tokenPage: '/settings/personal-access-tokens/new',
  applicationPage: '/settings/applications/new',
  permissions:
    'Read for “Contents”, “Metadata” and “Pull requests” of the repositories, and read and write for “Webhooks” and “Commit statuses”. For comments on pull requests, read and write for “Pull requests”.',
} satisfies HostRules;

const gitlab = {
  url: null,
  toApiUrl: (url) => `${url}/api/v4`,
  tokenPage: '/-/user_settings/personal_access_tokens',
  applicationPage: '/-/user_settings/applications',
  permissions: 'The scope “api”. The account has the role Maintainer in the projects.',
} satisfies HostRules;

/** The kinds of Git hosts that the server can connect, by their names in the API. */
export const HOST_KINDS = {
  github: { label: 'GitHub', ...github },
  github_enterprise: { label: 'GitHub Enterprise', ...github, url: null, toApiUrl: (url) => `${url}/api/v3` },
  gitlab_hosted: { label: 'GitLab.com', ...gitlab, url: 'https://gitlab.com' },
  gitlab_community_edition: { label: 'GitLab Community Edition', ...gitlab },
  gitlab_enterprise_edition: { label: 'GitLab Enterprise Edition', ...gitlab },
  gitea: { label: 'Gitea', ...gitea },
  forgejo: { label: 'Forgejo', ...gitea },
} as const satisfies Readonly<Record<string, HostKind>>;

export type HostKindName = keyof typeof HOST_KINDS;

/** Returns the address without the slash at its end. */
export const trimAddress = (url: string): string => url.trim().replace(/\/+$/, '');
