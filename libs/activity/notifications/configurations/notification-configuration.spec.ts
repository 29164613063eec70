import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { checkToken, parseHost } from './destinations.js';
import { notificationConfiguration, type NotificationConfigurationEvent } from './notification-configuration.js';
import type { SubscribableType, Trigger } from './triggers.js';

const { given } = specify(notificationConfiguration);

const settings = {
  name: 'ops',
  triggers: ['run:created', 'run:errored'] as readonly Trigger[],
  host: 'hooks.example.com',
  hasToken: false,
  users: [] as readonly string[],
  destinationType: 'generic' as const,
  enabled: false,
};
const ofType = (type: SubscribableType, more: object = {}) => ({
  ...settings,
  subscribable: { type, id: 'x-1' },
  ...more,
});
const create = (type: SubscribableType, more: object = {}) =>
  ({ type: 'CreateNotificationConfiguration', data: ofType(type, more) }) as const;
const wasCreated = (more: object = {}): NotificationConfigurationEvent => ({
  type: 'NotificationConfigurationCreated',
  data: ofType('workspaces', more),
});
const update = (changes: object, enabled?: boolean, replaced: readonly ('url' | 'token')[] = []) =>
  ({ type: 'UpdateNotificationConfiguration', data: { changes, enabled, replaced } }) as const;
const updated = (changes: object, replaced: readonly ('url' | 'token')[] = []): NotificationConfigurationEvent => ({
  type: 'NotificationConfigurationUpdated',
  data: { changes, replaced },
});
const enabled: NotificationConfigurationEvent = { type: 'NotificationConfigurationEnabled', data: {} };
const disabled: NotificationConfigurationEvent = { type: 'NotificationConfigurationDisabled', data: {} };
const remove = { type: 'DeleteNotificationConfiguration', data: {} } as const;

describe('a notification configuration', () => {
  it('is created once, with each trigger once and in order', () => {
    given()
      .when(create('workspaces', { triggers: ['run:errored', 'run:created', 'run:errored'] }))
      .yields(wasCreated());
    given(wasCreated()).when(create('workspaces')).refuses('conflict', 'exists already');
  });

  it.each([
    ['', "Name can't be blank"],
    ['x'.repeat(256), /^Name is too long/],
  ])('refuses the name %j', (name, detail) => {
    given().when(create('workspaces', { name })).refuses('unprocessable', detail);
    given(wasCreated()).when(update({ name })).refuses('unprocessable', detail);
  });

  it.each<[SubscribableType, Trigger]>([
    ['workspaces', 'workspace:created'],
    ['workspaces', 'change_request:created'],
    ['teams', 'run:created'],
    ['organizations', 'assessment:drifted'],
  ])('of %s refuses the trigger %s and names the accepted ones', (type, trigger) => {
    given()
      .when(create(type, { triggers: [trigger] }))
      .refuses(
        'unprocessable',
        new RegExp(
          `^Triggers of an? \\w+ must be some of .*, got ${trigger}$|must be some of change_request:created, got ${trigger}$`,
        ),
      );
  });

  it.each<[SubscribableType, Trigger]>([
    ['workspaces', 'assessment:drifted'],
    ['workspaces', 'workspace:locked'],
    ['teams', 'change_request:created'],
    ['organizations', 'workspace:deleted'],
    ['organizations', 'run:completed'],
  ])('of %s accepts the trigger %s', (type, trigger) => {
    given()
      .when(create(type, { triggers: [trigger] }))
      .yields({ type: 'NotificationConfigurationCreated', data: ofType(type, { triggers: [trigger] }) });
  });

  it('changes only what differs', () => {
    given(wasCreated())
      .when(update({ name: 'dev', triggers: ['run:errored', 'run:created'], host: 'hooks.example.com' }))
      .yields(updated({ name: 'dev' }));
    given(wasCreated())
      .when(update({ name: 'ops' }))
      .yields();
    given(wasCreated(), updated({ name: 'dev' }))
      .when(update({ name: 'dev' }))
      .yields();
  });

  it('by e-mail has each user once and in order, and changes of them are a change', () => {
    const mail = { destinationType: 'email' as const, host: null };
    given()
      .when(create('workspaces', { ...mail, users: ['user-b', 'user-a', 'user-b'] }))
      .yields(wasCreated({ ...mail, users: ['user-a', 'user-b'] }));
    given(wasCreated({ ...mail, users: ['user-a', 'user-b'] }))
      .when(update({ users: ['user-b', 'user-a'] }))
      .yields();
    given(wasCreated({ ...mail, users: ['user-a', 'user-b'] }))
      .when(update({ users: ['user-b'] }))
      .yields(updated({ users: ['user-b'] }));
  });

  it('refuses more users than a message can have recipients', () => {
    const users = Array.from({ length: 101 }, (_, n) => `user-${n}`);
    given().when(create('workspaces', { users })).refuses('unprocessable', 'Users must be at most 100, got 101');
    given(wasCreated())
      .when(update({ users }))
      .refuses('unprocessable', /at most 100/);
  });

  it('records that a secret was replaced, even if nothing else differs', () => {
    given(wasCreated())
      .when(update({}, undefined, ['url']))
      .yields(updated({}, ['url']));
    given(wasCreated())
      .when(update({ hasToken: true }, undefined, ['token']))
      .yields(updated({ hasToken: true }, ['token']));
  });

  it('is enabled and disabled with events of their own', () => {
    given(wasCreated()).when(update({}, true)).yields(enabled);
    given(wasCreated(), enabled).when(update({}, true)).yields();
    given(wasCreated(), enabled).when(update({}, false)).yields(disabled);
    given(wasCreated(), enabled, disabled)
      .when(update({ name: 'dev' }, true))
      .yields(updated({ name: 'dev' }), enabled);
  });

  it('is deleted under its last name, and refuses every command afterwards', () => {
    const deleted: NotificationConfigurationEvent = {
      type: 'NotificationConfigurationDeleted',
      data: { name: 'dev', subscribable: { type: 'workspaces', id: 'x-1' } },
    };
    given(wasCreated(), updated({ name: 'dev' }))
      .when(remove)
      .yields(deleted);
    given(wasCreated(), deleted).when(remove).refuses('not-found', 'Not found');
    given(wasCreated(), deleted)
      .when(update({ name: 'again' }))
      .refuses('not-found', 'Not found');
  });
});

describe('the URL of a destination', () => {
  it.each([
    ['https://hooks.example.com/a?b=c', 'hooks.example.com'],
    ['http://10.0.0.1:8080/', '10.0.0.1'],
    ['https://[2001:db8::1]/x', '[2001:db8::1]'],
  ])('%s has the host %s', (url, host) => expect(parseHost(url)).toBe(host));

  it.each([
    ['', "Url can't be blank"],
    ['hooks.example.com', 'Url must be an address that begins with https:// or http://'],
    ['ftp://hooks.example.com/', 'Url must be an address that begins with https:// or http://'],
    ['file:///etc/passwd', 'Url must be an address that begins with https:// or http://'],
    ['https://user:word@hooks.example.com/', 'Url must not contain a user name or a password'],
  ])('may not be %j', (url, detail) => expect(() => parseHost(url)).toThrow(detail));
});

describe('the token of a destination', () => {
  it('is only for generic destinations', () => {
    expect(() => checkToken('secret', 'generic')).not.toThrow();
    expect(() => checkToken(null, 'slack')).not.toThrow();
    expect(() => checkToken('secret', 'slack')).toThrow('Token is only for destination-type generic, not for slack');
    expect(() => checkToken('secret', 'microsoft-teams')).toThrow('not for microsoft-teams');
  });
});
