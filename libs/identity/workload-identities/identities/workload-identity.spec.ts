import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import {
  workloadIdentity,
  type NewWorkloadIdentity,
  type WorkloadIdentityChanges,
  type WorkloadIdentityEvent,
} from './workload-identity.js';

const { given } = specify(workloadIdentity);

const settings = {
  name: 'main',
  issuer: 'https://token.actions.githubusercontent.com',
  claims: { sub: ['repo:acme/app:ref:refs/heads/main'], repository_owner_id: ['7'] },
} as const;
const created: WorkloadIdentityEvent = {
  type: 'WorkloadIdentityCreated',
  data: { team: 'team-1', ...settings, description: null, audience: null, tokenMinutes: 60, enabled: true },
};
const deleted: WorkloadIdentityEvent = { type: 'WorkloadIdentityDeleted', data: { team: 'team-1', name: 'main' } };
const create = (changes: Partial<NewWorkloadIdentity> = {}) =>
  ({ type: 'CreateWorkloadIdentity', data: { team: 'team-1', settings: { ...settings, ...changes } } }) as const;
const update = (changes: WorkloadIdentityChanges) => ({ type: 'UpdateWorkloadIdentity', data: { changes } }) as const;
const remove = { type: 'DeleteWorkloadIdentity', data: {} } as const;
const updated = (changes: WorkloadIdentityChanges): WorkloadIdentityEvent => ({
  type: 'WorkloadIdentityUpdated',
  data: { team: 'team-1', changes },
});

describe('a workload identity', () => {
  it('is created once, with default values', () => {
    given().when(create()).yields(created);
    given(created).when(create()).refuses('conflict', 'exists already');
  });

  it('is created with the values of the request', () => {
    const all = { description: 'deploys', audience: 'cadastre', tokenMinutes: 5, enabled: false };
    given()
      .when(create(all))
      .yields({ type: 'WorkloadIdentityCreated', data: { team: 'team-1', ...settings, ...all } });
  });

  it.each<[WorkloadIdentityChanges, string | RegExp]>([
    [{ name: ' ' }, "Name can't be blank"],
    [{ name: 'a b' }, /^Name may only contain letters/],
    [{ name: 'x'.repeat(91) }, /^Name is too long/],
    [{ issuer: 'http://gitlab.example.com' }, /^Issuer must be the URL/],
    [{ audience: '' }, "Audience can't be blank"],
    [{ claims: { ref: ['refs/heads/main'] } }, /^Claims must contain sub/],
  ])('refuses %j', (changes, detail) => {
    given().when(create(changes)).refuses('unprocessable', detail);
    given(created).when(update(changes)).refuses('unprocessable', detail);
  });

  it('is updated with the values that differ', () => {
    given(created)
      .when(update({ name: 'main', tokenMinutes: 5, enabled: false }))
      .yields(updated({ tokenMinutes: 5, enabled: false }));
    given(created)
      .when(update({ audience: 'cadastre' }))
      .yields(updated({ audience: 'cadastre' }));
    given(created, updated({ audience: 'cadastre' }))
      .when(update({ audience: null }))
      .yields(updated({ audience: null }));
  });

  it('does not change if only the order of its claims differs', () => {
    const { sub, repository_owner_id } = settings.claims;
    given(created)
      .when(update({ claims: { repository_owner_id, sub } }))
      .yields();
  });

  it('refuses every command after it was deleted', () => {
    given(created).when(remove).yields(deleted);
    given(created, deleted).when(remove).refuses('not-found', 'Not found');
    given(created, deleted)
      .when(update({ enabled: false }))
      .refuses('not-found', 'Not found');
    given().when(remove).refuses('not-found', 'Not found');
  });
});
