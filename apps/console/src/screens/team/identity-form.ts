import type { WorkloadIdentityInput, WorkloadIdentity } from '../../api/workload-identities.js';
import { GITHUB, GITLAB } from './identity-snippets.js';

/** A claim of the tokens of jobs. `values`: accepted ones. */
export type ClaimFields = { readonly name: string; readonly values: readonly string[] };

export type IdentityFields = {
  readonly name: string;
  readonly description: string;
  readonly issuer: string;
  readonly audience: string;
  readonly claims: readonly ClaimFields[];
  readonly 'token-minutes': number | string;
};

const toEmptyClaims = (...names: readonly string[]): readonly ClaimFields[] =>
  names.map((name) => ({ name, values: [] }));

/** The issuers that people choose most, with claims that name a repository and a branch. */
export const ISSUERS = [
  { label: 'GitHub Actions', issuer: GITHUB, claims: toEmptyClaims('repository', 'ref') },
  { label: 'GitLab.com', issuer: GITLAB, claims: toEmptyClaims('project_path', 'ref', 'ref_protected') },
  { label: 'Another issuer', issuer: '', claims: toEmptyClaims('sub') },
] as const;

const NEW_IDENTITY: IdentityFields = {
  name: '',
  description: '',
  issuer: ISSUERS[0].issuer,
  audience: '',
  claims: ISSUERS[0].claims,
  'token-minutes': 60,
};

export const toIdentityFields = (identity: WorkloadIdentity | null): IdentityFields => {
  if (identity === null) return NEW_IDENTITY;
  const { attributes } = identity;
  return {
    name: attributes.name,
    description: attributes.description ?? '',
    issuer: attributes.issuer,
    audience: attributes.audience,
    claims: Object.entries(attributes.claims).map(([name, values]) => ({ name, values })),
    'token-minutes': attributes['token-minutes'],
  };
};

/** Returns the attributes of a request. Claims without a name and without values are left out. */
export const toIdentityAttributes = (fields: IdentityFields): WorkloadIdentityInput => ({
  name: fields.name,
  description: fields.description === '' ? null : fields.description,
  issuer: fields.issuer,
  audience: fields.audience === '' ? null : fields.audience,
  claims: Object.fromEntries(
    fields.claims
      .filter(({ name, values }) => name.trim() !== '' || values.length > 0)
      .map(({ name, values }) => [name.trim(), [...values]]),
  ),
  'token-minutes': Number(fields['token-minutes']),
});
