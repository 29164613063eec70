import { linkTo, type Resource } from '#json-api';
import { may, SITE, type Identity } from '#access';
import { avatarPath } from './avatar.renderer.js';
import type { UserRow } from './users.queries.js';

/** A person, or what a team or organization token shows of itself: a service account, which founds nothing. */
export const userResource = (
  { id, username, email, unconfirmedEmail, siteAdmin }: UserRow,
  actor: Identity,
  isServiceAccount = false,
): Resource => {
  const own = { organization: null, user: id };
  const changes = may(actor, 'update-account', own);
  return {
    id,
    type: 'users',
    attributes: {
      username,
      email,
      // Only the person and site administrators see it: it may be the address of another person.
      'unconfirmed-email': changes || may(actor, 'change-email', SITE) ? unconfirmedEmail : null,
      'is-service-account': isServiceAccount,
      'is-site-admin': siteAdmin,
      'is-admin': siteAdmin,
      'avatar-url': avatarPath(id),
      // Tokens are the only way in.
      'two-factor': { enabled: false, verified: false },
      'is-sso-login': false,
      'v2-only': true,
      permissions: {
        'can-create-organizations': !isServiceAccount,
        'can-change-email': changes,
        'can-change-username': changes,
        'can-manage-user-tokens': may(actor, 'manage-user-tokens', own),
      },
    },
    relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
    links: { self: `/api/v2/users/${id}` },
  };
};
