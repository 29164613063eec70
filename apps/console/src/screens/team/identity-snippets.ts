import type { WorkloadIdentity } from '../../api/workload-identities.js';

export const GITHUB = 'https://token.actions.githubusercontent.com';
export const GITLAB = 'https://gitlab.com';

/** The values in the text of a job. None of them is secret. */
type SnippetValues = { readonly server: string; readonly identity: WorkloadIdentity };

/** The variable from which terraform reads the token of a host. Its name has underscores for dots, and two for hyphens. */
const nameTokenVariable = (server: string): string => {
  const { hostname } = new URL(server);
  return `TF_TOKEN_${hostname.replaceAll('-', '__').replaceAll('.', '_')}`;
};

/** The request that exchanges the token of the job. The lines have the indentation of the job. */
const exchange = (indent: string): string =>
  [
    'curl --silent --show-error --fail-with-body --retry 5 --output answer.json "$CADASTRE/oauth/token" \\',
    '  --data-urlencode "audience=$IDENTITY" \\',
    '  --data-urlencode "subject_token=$ID_TOKEN" \\',
    '  --data grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\',
    '  --data subject_token_type=urn:ietf:params:oauth:token-type:id_token || { cat answer.json; exit 1; }',
    'TOKEN=$(jq --raw-output .access_token answer.json)',
    'rm answer.json',
  ]
    .map((line) => `${indent}${line}`)
    .join('\n');

/** Returns a job of GitHub Actions that gets a token, and uses terraform with it. */
export const formatGithubJob = ({
  server,
  identity,
}: SnippetValues): string => `permissions: { contents: read, id-token: write }
jobs:
  apply:
    runs-on: ubuntu-latest
    env:
      CADASTRE: ${server}
      IDENTITY: ${identity.id}
      AUDIENCE: ${encodeURIComponent(identity.attributes.audience)}
    steps:
      - uses: actions/checkout@v4
      - name: Get a token
        shell: bash
        run: |
          ID_TOKEN=$(curl --silent --show-error --fail --header "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
            "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$AUDIENCE" | jq --raw-output .value)
${exchange('          ')}
          echo "::add-mask::$TOKEN"
          echo "${nameTokenVariable(server)}=$TOKEN" >> "$GITHUB_ENV"
      - run: terraform init && terraform apply -auto-approve
`;

/** Returns a job of GitLab CI that gets a token, and uses terraform with it. */
export const formatGitlabJob = ({ server, identity }: SnippetValues): string => `apply:
  image:
    name: hashicorp/terraform:1.11
    entrypoint: ['']
  before_script:
    - apk add --no-cache curl jq
  variables:
    CADASTRE: ${server}
    IDENTITY: ${identity.id}
  id_tokens:
    ID_TOKEN:
      aud: ${JSON.stringify(identity.attributes.audience)}
  script:
    - |
${exchange('      ')}
      export ${nameTokenVariable(server)}=$TOKEN
    - terraform init
    - terraform apply -auto-approve
`;
