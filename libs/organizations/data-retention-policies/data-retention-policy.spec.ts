import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { dataRetentionPolicy, type DataRetentionPolicyEvent } from './data-retention-policy.js';

const { given } = specify(dataRetentionPolicy);

const target = { type: 'workspaces', id: 'ws-1' } as const;
const policyData = (deleteOlderThanDays: number | null) => ({ organizationName: 'acme', deleteOlderThanDays });
const set = (days: number | null) =>
  ({ type: 'SetDataRetentionPolicy', data: { target, ...policyData(days) } }) as const;
const remove = { type: 'RemoveDataRetentionPolicy', data: { organizationName: 'acme' } } as const;

const wasSet = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicySet',
  data: { target, ...policyData(days) },
});
const changed = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicyChanged',
  data: policyData(days),
});
const removed = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicyRemoved',
  data: policyData(days),
});

describe('decisions about a data retention policy', () => {
  it.each([1, 30, 36_500, null])('set it to %j days', (days) => given().when(set(days)).yields(wasSet(days)));

  it.each([
    [0, 'greater than 0'],
    [-1, 'greater than 0'],
    [1.5, 'a whole number'],
    [36_501, 'at most 36500'],
  ])('refuse to set it to %j days', (days, detail) => {
    given().when(set(days)).refuses('unprocessable', detail);
    given(wasSet(30)).when(set(days)).refuses('unprocessable', detail);
  });

  it('change an existing policy, also to the other type and back', () => {
    given(wasSet(30)).when(set(60)).yields(changed(60));
    given(wasSet(30)).when(set(null)).yields(changed(null));
    given(wasSet(30), changed(null)).when(set(30)).yields(changed(30));
  });

  it('yield no event if nothing changes', () => {
    given(wasSet(30)).when(set(30)).yields();
    given(wasSet(30), changed(null)).when(set(null)).yields();
  });

  it('remove it once, with an event that contains its last days', () => {
    given(wasSet(30), changed(60)).when(remove).yields(removed(60));
    given(wasSet(null)).when(remove).yields(removed(null));
    given().when(remove).refuses('not-found', 'Not found');
    given(wasSet(30), removed(30)).when(remove).refuses('not-found', 'Not found');
    given(wasSet(30), removed(30)).when(set(30)).refuses('not-found', 'Not found');
  });
});
