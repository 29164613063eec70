import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { userIdentities } from './identities/linked-identities.projection.js';
import { signInSecrets } from './methods/secrets.projection.js';
import { signInMethods } from './methods/sign-in-methods.js';
import { signInMethodsEvents } from './methods/sign-in-methods.events.js';
import { accountNoticesFollower } from './notices/account-notices.follower.js';
import { refusedSignInEvents } from './refusals/refused-sign-ins.js';
import { TOTP_PURPOSE } from './totp/totp.queries.js';

const withoutAccounts = {
  without: 'people keep their sign-in methods at the site where they have an account',
} as const;

export const signInDefinition: ModuleDefinition = {
  name: 'sign-in',
  kinds: { ...signInMethodsEvents, ...refusedSignInEvents },
  aggregates: [defineAggregate('sim', signInMethods)],
  projections: [toProjection(signInSecrets), toProjection(userIdentities)],
  followers: [accountNoticesFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'sign_in.passwords', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.totp_secrets', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.recovery_codes', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.passkeys', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.links', backup: 'empty', because: 'links end after 15 minutes' },
    {
      table: 'sign_in.answered_challenges',
      backup: 'rows',
      organizationExport: withoutAccounts,
    },
    { table: 'sign_in.account_notices', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.account_mails', backup: 'rows', organizationExport: withoutAccounts },
    { table: 'sign_in.attempts', backup: 'empty', because: 'the count of attempts starts again' },
    { table: 'sign_in.refusals', backup: 'empty', because: 'the count of refused sign-ins starts again' },
  ],
  encryptedColumns: [{ table: 'sign_in.totp_secrets', id: 'user_id', column: 'encrypted', purpose: TOTP_PURPOSE }],
};
