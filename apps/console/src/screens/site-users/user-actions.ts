import type { SiteUser, SiteUserChange } from '../../api/site-users.js';

type ConfirmedAction = Exclude<SiteUserChange['action'], 'unsuspend'>;

type ActionWords = {
  readonly action: string;
  readonly title: (name: string) => string;
  /** The effect of the change, and the things that stay. */
  readonly effect: string;
  readonly done: (name: string) => string;
  readonly isDangerous?: boolean;
};

/** The actions of a site administrator on a user, in the order of the menu. Each has a dialog. */
export const USER_ACTIONS: Readonly<Record<ConfirmedAction, ActionWords>> = {
  suspend: {
    action: 'Suspend',
    title: (name) => `Suspend ${name}`,
    effect:
      'All tokens and sessions of the user end, and the server refuses new ones until you end the suspension. Memberships and teams stay. Ended tokens stay ended.',
    done: (name) => `${name} is suspended.`,
    isDangerous: true,
  },
  grant_admin: {
    action: 'Make site administrator',
    title: (name) => `Make ${name} a site administrator`,
    effect: 'The user can read and change every organization, every user and the settings of the site.',
    done: (name) => `${name} administers the site.`,
  },
  revoke_admin: {
    action: 'Revoke site administration',
    title: (name) => `Revoke the site administration of ${name}`,
    effect: 'From the next request, the user has only the access of the own memberships and teams. Tokens stay.',
    done: (name) => `${name} no longer administers the site.`,
    isDangerous: true,
  },
  end_sessions: {
    action: 'End sessions',
    title: (name) => `End the sessions of ${name}`,
    effect: 'The user is signed out of every browser, and can sign in again. Tokens stay.',
    done: (name) => `The sessions of ${name} have ended.`,
    isDangerous: true,
  },
  disable_two_factor: {
    action: 'Remove second factors',
    title: (name) => `Remove the second factors of ${name}`,
    effect:
      'One-time codes, recovery codes and passkeys are removed, and all sessions end. Do this only if the user has lost them, and you know who asks: afterwards, the password or the identity provider alone suffices.',
    done: (name) => `${name} has no second factor any more.`,
    isDangerous: true,
  },
  forget: {
    action: 'Forget',
    title: (name) => `Forget ${name}`,
    effect:
      'Memberships, teams, tokens and sessions of the user end, and the name and the addresses are erased. The audit trail keeps the actions under the id. You cannot undo this.',
    done: () => 'The user is forgotten.',
    isDangerous: true,
  },
};

/** Returns the changes that make sense for this user. */
export const listUserActions = ({ attributes }: SiteUser): readonly ConfirmedAction[] => [
  ...(attributes['is-suspended'] ? [] : (['suspend'] as const)),
  attributes['is-admin'] ? 'revoke_admin' : 'grant_admin',
  ...(attributes['is-suspended'] ? [] : (['end_sessions'] as const)),
  ...(attributes['two-factor'].enabled ? (['disable_two_factor'] as const) : []),
  'forget',
];

export type OpenUserAction = { readonly action: ConfirmedAction; readonly user: SiteUser };
