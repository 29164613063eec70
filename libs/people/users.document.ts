import { linkTo, type Resource } from '#json-api';
import { may, SITE, type Identity } from '#access';
import { avatarPath } from './avatar.renderer.js';
import type { UserRow } from './users.queries.js';

/** A person, or what a team or organization token shows of itself: a service account, which founds nothing. */
export const userResource = (
  { id, username, email, siteAdmin }: UserRow,
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
      'unconfirmed-email': null,
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
        'can-change-email': changes && may(actor, 'change-email', SITE),
        'can-change-username': changes,
        'can-manage-user-tokens': may(actor, 'manage-user-tokens', own),
      },
    },
    relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
    links: { self: `/api/v2/users/${id}` },
  };
};
