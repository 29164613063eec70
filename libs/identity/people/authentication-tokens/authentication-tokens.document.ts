import { toOne, type Relationship, type Resource } from '#api/json-api';
import type { TokenRow } from './authentication-tokens.queries.js';
import type { IssuedToken } from './authentication-tokens.writes.js';

/** Clients expect a user as creator of an agent's token, even if a team created it. */
const renderCreator = ({ kind, createdByType: type, createdBy }: TokenRow | IssuedToken): Relationship =>
  type === null ? { data: null } : toOne(kind === 'agent' ? 'users' : type, createdBy);

/** Null for a token with access to all organizations of its owner. */
const renderOrganization = ({ onlyOrganization: name }: TokenRow): Relationship =>
  name === null ? { data: null } : toOne('organizations', name, `/api/v2/organizations/${name}`);

export const renderAuthenticationToken = (token: TokenRow | IssuedToken): Resource => ({
  id: token.id,
  type: 'authentication-tokens',
  attributes: {
    'created-at': token.createdAt,
    'last-used-at': token.lastUsedAt,
    description: token.description,
    // Only the response that creates a token contains its secret; Cadastre stores a hash.
    token: 'secret' in token ? token.secret : null,
    'expired-at': token.expiredAt,
    ...(token.kind === 'user' ? { access: token.access } : {}),
  },
  relationships: {
    'created-by': renderCreator(token),
    ...(token.kind === 'team' ? { team: toOne('teams', token.owner, `/api/v2/teams/${token.owner}`) } : {}),
    ...(token.kind === 'user' ? { organization: renderOrganization(token) } : {}),
  },
});
