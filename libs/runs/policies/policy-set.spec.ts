import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { NO_MEMBERS, policySet, type PolicySetEvent } from './policy-set.js';

const { given } = specify(policySet);

const SETTINGS = { name: 'security', description: '', global: false, overridable: false, toolVersion: null };
const listIds = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

const withPolicies = (count: number): PolicySetEvent => ({
  type: 'PolicySetCreated',
  data: { ...SETTINGS, members: { ...NO_MEMBERS, policies: [...listIds('pol', count)] } },
});

const attach = (existing: readonly string[], ...ids: readonly string[]) =>
  ({
    type: 'AttachToPolicySet',
    data: { relation: 'policies', ids, existing: { ...NO_MEMBERS, policies: existing } },
  }) as const;

const changed = (added: string, ...removed: string[]): PolicySetEvent => ({
  type: 'PolicySetMembersChanged',
  data: {
    ...SETTINGS,
    added: { ...NO_MEMBERS, policies: [added] },
    removed: { ...NO_MEMBERS, policies: removed },
  },
});

describe('a policy set', () => {
  it('has a limit, which members that were deleted do not use up', () => {
    given(withPolicies(100))
      .when(attach(listIds('pol', 100), 'pol-new'))
      .refuses('unprocessable', 'A policy set can have at most 100 policies, got 101');
    given(withPolicies(100))
      .when(attach(listIds('pol', 98), 'pol-new'))
      .yields(changed('pol-new', 'pol-98', 'pol-99'));
  });

  it('keeps members that were deleted until it is full, because they can be recovered', () => {
    given(withPolicies(99)).when(attach([], 'pol-new')).yields(changed('pol-new'));
  });
});
