import { linkTo, type Resource } from '#json-api';
import type { Identity } from './actor.js';
import { may, SITE } from './permissions.js';
import type { UserRow } from './users.queries.js';

/** A person, or what a team or organization token shows of itself: a service account, which founds nothing. */
export const userResource = (
  { id, username, email, siteAdmin }: UserRow,
  actor: Identity,
  isServiceAccount = false,
): Resource => {
  const changes = may(actor, 'update-account', { organization: null, user: id });
  return {
    id,
    type: 'users',
    attributes: {
      username,
      email,
      'is-service-account': isServiceAccount,
      'is-site-admin': siteAdmin,
      'is-admin': siteAdmin,
      'avatar-url': null,
      'v2-only': true,
      permissions: {
        'can-create-organizations': !isServiceAccount,
        'can-change-email': changes && may(actor, 'change-email', SITE),
        'can-change-username': changes,
      },
    },
    relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
    links: { self: `/api/v2/users/${id}` },
  };
};
