import { linkTo, type Resource } from '#json-api';
import { can, SITE_SCOPE, type Identity } from '#access';
import { buildAvatarPath } from './avatar.renderer.js';
import type { UserRow } from './users.queries.js';

/** A person, or what a team or organization token shows of itself: a service account, which founds nothing. */
export const renderUser = (
  { id, username, email, unconfirmedEmail, siteAdmin }: UserRow,
  actor: Identity,
  isServiceAccount = false,
): Resource => {
  const own = { organization: null, user: id };
  const changes = can(actor, 'update-account', own);
  return {
    id,
    type: 'users',
    attributes: {
      username,
      email,
      // Only the person and site administrators see it: it may be the address of another person.
      'unconfirmed-email': changes || can(actor, 'change-email', SITE_SCOPE) ? unconfirmedEmail : null,
      'is-service-account': isServiceAccount,
      'is-site-admin': siteAdmin,
      'is-admin': siteAdmin,
      'avatar-url': buildAvatarPath(id),
      // Tokens are the only way in.
      'two-factor': { enabled: false, verified: false },
      'is-sso-login': false,
      'v2-only': true,
      permissions: {
        'can-create-organizations': !isServiceAccount,
        'can-change-email': changes,
        'can-change-username': changes,
        'can-manage-user-tokens': can(actor, 'manage-user-tokens', own),
      },
    },
    relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
    links: { self: `/api/v2/users/${id}` },
  };
};
