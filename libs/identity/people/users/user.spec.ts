import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { user, deriveUsername, type UserChanges, type UserCommand, type UserEvent } from './user.js';

const { given } = specify(user);

const data = { username: 'ada', email: null, siteAdmin: false };
const created: UserEvent = { type: 'UserCreated', data };
const update = (changes: UserChanges, confirmsEmail = true): UserCommand => ({
  type: 'UpdateUser',
  data: { changes, confirmsEmail },
});
const updated = (changes: UserChanges): UserEvent => ({ type: 'UserUpdated', data: { changes } });

describe('a user', () => {
  it('is created once', () => {
    given().when({ type: 'CreateUser', data }).yields(created);
    given(created).when({ type: 'CreateUser', data }).refuses('conflict', 'User exists already');
  });

  it.each(['admin', 'ROOT', 'system', 'team-owners', 'run-4nZ8x', 'apool-1'])(
    'is not created with the name %s',
    (username) => {
      given()
        .when({ type: 'CreateUser', data: { ...data, username } })
        .refuses('unprocessable', /^Username (?:is reserved|must not look like an id)/);
    },
  );

  it('may have the name admin if it is a site administrator', () => {
    const admin = { ...data, username: 'admin', siteAdmin: true };
    given().when({ type: 'CreateUser', data: admin }).yields({ type: 'UserCreated', data: admin });
  });

  it('keeps an existing name that new users may not choose', () => {
    const old: UserEvent = { type: 'UserCreated', data: { ...data, username: 'user-old' } };
    given(old)
      .when(update({ username: 'user-old', email: 'old@people.test' }))
      .yields(updated({ email: 'old@people.test' }));
  });

  it('records only changed attributes', () => {
    given(created)
      .when(update({ username: 'ada', email: 'ada@people.test' }))
      .yields(updated({ email: 'ada@people.test' }));
    given(created, updated({ email: 'ada@people.test' }))
      .when(update({ email: 'ada@people.test' }))
      .yields();
    given(created, updated({ username: 'countess' }))
      .when(update({ username: 'ada' }))
      .yields(updated({ username: 'ada' }));
    given(created).when(update({})).yields();
  });

  describe('with an address', () => {
    const present = 'ada@people.test';
    const requestedEmail = 'countess@people.test';
    const own = (changes: UserChanges): UserCommand => update(changes, false);
    const ada = [created, updated({ email: present })];
    const waiting = [...ada, updated({ unconfirmedEmail: requestedEmail })];

    it.each([
      [{ email: requestedEmail }],
      [{ unconfirmedEmail: requestedEmail }],
      [{ email: present, unconfirmedEmail: requestedEmail }],
      [{ email: requestedEmail, unconfirmedEmail: null }],
      [{ email: requestedEmail, unconfirmedEmail: 'other@people.test' }],
    ])('keeps it and stores the new one as unconfirmed if the user requests %j', (changes) => {
      given(...ada)
        .when(own(changes))
        .yields(updated({ unconfirmedEmail: requestedEmail }));
      given(...waiting)
        .when(own(changes))
        .yields();
    });

    it.each([[{ email: present }], [{ unconfirmedEmail: present }], [{ unconfirmedEmail: null }]])(
      'clears the unconfirmed address after %j',
      (changes) => {
        for (const confirmsEmail of [true, false]) {
          given(...waiting)
            .when(update(changes, confirmsEmail))
            .yields(updated({ unconfirmedEmail: null }));
          given(...ada)
            .when(update(changes, confirmsEmail))
            .yields();
        }
      },
    );

    it('gets a confirmed address and clears the unconfirmed one', () => {
      for (const email of [requestedEmail, 'other@people.test']) {
        given(...waiting)
          .when(update({ email }))
          .yields(updated({ email, unconfirmedEmail: null }));
      }
      given(...ada)
        .when(update({ unconfirmedEmail: requestedEmail }))
        .yields(updated({ unconfirmedEmail: requestedEmail }));
    });

    it('keeps the unconfirmed address if something else changes', () =>
      given(...waiting)
        .when(own({ username: 'countess' }))
        .yields(updated({ username: 'countess' })));
  });

  it('is forgotten permanently', () => {
    const forget: UserCommand = { type: 'ForgetUser', data: { owned: [], isLastAdmin: false } };
    const forgotten: UserEvent = { type: 'UserForgotten', data: {} };
    given(created).when(forget).yields(forgotten);
    given().when(forget).refuses('not-found', 'Not found');
    given(created, forgotten).when(forget).refuses('not-found', 'Not found');
    given(created, forgotten)
      .when(update({ username: 'bob' }))
      .refuses('not-found', 'Not found');
    given(created, forgotten).when({ type: 'CreateUser', data }).refuses('conflict', 'User exists already');
    expect(given(created, forgotten).state).toEqual({ status: 'forgotten' });
  });

  it('is not forgotten as the last owner of an organization or the last site administrator', () => {
    const forget = (owned: readonly string[], isLastAdmin: boolean): UserCommand => ({
      type: 'ForgetUser',
      data: { owned, isLastAdmin },
    });
    given(created)
      .when(forget(['acme', 'rival'], false))
      .refuses('unprocessable', 'The last active owner of acme, rival cannot be forgotten');
    given(created).when(forget([], true)).refuses('unprocessable', 'The last administrator of the site');
  });

  describe('if it is suspended', () => {
    const organizations = ['org-1'];
    const suspend = (owned: readonly string[] = [], isLastAdmin = false): UserCommand => ({
      type: 'SuspendUser',
      data: { organizations, owned, isLastAdmin },
    });
    const unsuspend: UserCommand = { type: 'UnsuspendUser', data: { organizations } };
    const suspended: UserEvent = { type: 'UserSuspended', data: { organizations } };
    const unsuspended: UserEvent = { type: 'UserUnsuspended', data: { organizations } };

    it('records the suspension and its end once', () => {
      given(created).when(suspend()).yields(suspended);
      given(created, suspended)
        .when(suspend(['acme']))
        .yields();
      given(created, suspended).when(unsuspend).yields(unsuspended);
      given(created).when(unsuspend).yields();
      given(created, suspended, unsuspended).when(suspend()).yields(suspended);
      given().when(suspend()).refuses('not-found', 'Not found');
    });

    it('is refused for the last owner of an organization and the last site administrator', () => {
      given(created)
        .when(suspend(['acme']))
        .refuses('unprocessable', 'The last active owner of acme cannot be suspended; name another owner first');
      given(created).when(suspend([], true)).refuses('unprocessable', 'The last administrator of the site');
    });
  });

  describe('if it administers the site', () => {
    const granted: UserEvent = { type: 'SiteAdminGranted', data: {} };
    const revoked: UserEvent = { type: 'SiteAdminRevoked', data: {} };
    const grant = (onlyInvited = false): UserCommand => ({ type: 'GrantSiteAdmin', data: { onlyInvited } });
    const revoke = (isLastAdmin = false): UserCommand => ({ type: 'RevokeSiteAdmin', data: { isLastAdmin } });
    const firstAdmin: UserEvent = { type: 'UserCreated', data: { username: 'admin', email: null, siteAdmin: true } };

    it('records the grant and its end once', () => {
      given(created).when(grant()).yields(granted);
      given(created, granted).when(grant(true)).yields();
      given(firstAdmin).when(grant()).yields();
      given(created, granted).when(revoke()).yields(revoked);
      given(firstAdmin).when(revoke()).yields(revoked);
      given(created).when(revoke(true)).yields();
      given(created, granted, revoked).when(grant()).yields(granted);
      given().when(grant()).refuses('not-found', 'Not found');
      given().when(revoke()).refuses('not-found', 'Not found');
    });

    it('must have been used and must not be suspended', () => {
      const suspended: UserEvent = { type: 'UserSuspended', data: { organizations: [] } };
      given(created, suspended).when(grant()).refuses('unprocessable', 'A suspended user cannot administer the site');
      given(created).when(grant(true)).refuses('unprocessable', 'The user is invited and has not used the account yet');
    });

    it('stays an administrator if it is the last one', () =>
      given(firstAdmin)
        .when(revoke(true))
        .refuses(
          'unprocessable',
          'The last administrator of the site must stay one; name another administrator first',
        ));
  });

  it('refuses changes before its creation', () =>
    given()
      .when(update({ username: 'bob' }))
      .refuses('not-found', 'Not found'));

  it.each([
    [{ username: '' }, "Username can't be blank"],
    [{ username: 'a b' }, 'Username may only contain letters, numbers, dashes and underscores'],
    [{ username: 'x'.repeat(65) }, 'Username is too long'],
    [{ username: 'admin' }, 'Username is reserved: choose another one than admin'],
    [{ username: 'System' }, 'Username is reserved: choose another one than System'],
    [{ username: 'user-4nZ8' }, 'Username must not look like an id: it begins with user-'],
    [{ username: 'ORG-acme' }, 'Username must not look like an id: it begins with ORG-'],
    [{ email: '' }, "Email can't be blank"],
    [{ email: 'nobody' }, 'Email is invalid'],
    [{ email: '@here' }, 'Email is invalid'],
    [{ email: 'a b@c' }, 'Email is invalid'],
    [{ email: `${'x'.repeat(250)}@test` }, 'Email is invalid'],
    [{ unconfirmedEmail: '' }, "Email can't be blank"],
    [{ unconfirmedEmail: 'nobody' }, 'Email is invalid'],
  ])('refuses the change %j', (changes, detail) => {
    for (const confirmsEmail of [true, false]) {
      given(created).when(update(changes, confirmsEmail)).refuses('unprocessable', detail);
    }
  });
});

describe('the username derived from an address', () => {
  it.each([
    ['ada@people.test', 'ada'],
    ['ada.lovelace+iac@people.test', 'ada-lovelace-iac'],
    ['Ada_L@people.test', 'Ada_L'],
    ['"odd@local"@people.test', 'odd-local'],
    ['é@people.test', 'user'],
    ['no address', 'no-addres'],
    ['admin@people.test', 'admin_'],
    ['team-lead@people.test', 'team_lead'],
    [`${'x'.repeat(64)}@people.test`, 'x'.repeat(32)],
  ])('of %s is %s', (email, username) => expect(deriveUsername(email)).toBe(username));
});
