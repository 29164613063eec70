import { linkTo, type Resource } from '#api/json-api';
import { can, SITE_SCOPE, type Identity } from '#api/access';
import { buildAvatarPath } from './avatar.renderer.js';
import type { UserRow } from './users.queries.js';

/** Renders a user, or the service account of a team or organization token, which cannot create organizations. */
export const renderUser = (
  { id, username, email, unconfirmedEmail, siteAdmin, suspended }: UserRow,
  actor: Identity,
  isServiceAccount = false,
  mayCreateOrganizations = !isServiceAccount,
): Resource => {
  const own = { organization: null, user: id };
  const changes = can(actor, 'update-account', own);
  return {
    id,
    type: 'users',
    attributes: {
      username,
      email,
      // Visible only to the person and to site administrators: it may be another person's address.
      'unconfirmed-email': can(actor, 'read-user', own) ? unconfirmedEmail : null,
      'is-service-account': isServiceAccount,
      'is-site-admin': siteAdmin,
      'is-admin': siteAdmin,
      'is-suspended': suspended,
      'avatar-url': buildAvatarPath(id),
      // Tokens are the only way to sign in.
      'two-factor': { enabled: false, verified: false },
      'is-sso-login': false,
      'v2-only': true,
      permissions: {
        // A restricted token of the account cannot create them. Tokens of other people do not matter.
        'can-create-organizations':
          mayCreateOrganizations && (actor.id !== id || can(actor, 'create-organization', SITE_SCOPE)),
        'can-change-email': changes,
        'can-change-username': changes,
        'can-manage-user-tokens': can(actor, 'manage-user-tokens', own),
      },
    },
    relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
    links: { self: `/api/v2/users/${id}` },
  };
};
