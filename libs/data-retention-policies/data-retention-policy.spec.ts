import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { dataRetentionPolicy, type DataRetentionPolicyEvent } from './data-retention-policy.js';

const { given } = specify(dataRetentionPolicy);

const target = { type: 'workspaces', id: 'ws-1' } as const;
const said = (deleteOlderThanDays: number | null) => ({ organizationName: 'acme', deleteOlderThanDays });
const set = (days: number | null) => ({ type: 'SetDataRetentionPolicy', data: { target, ...said(days) } }) as const;
const remove = { type: 'RemoveDataRetentionPolicy', data: { organizationName: 'acme' } } as const;

const born = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicySet',
  data: { target, ...said(days) },
});
const changed = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicyChanged',
  data: said(days),
});
const removed = (days: number | null): DataRetentionPolicyEvent => ({
  type: 'DataRetentionPolicyRemoved',
  data: said(days),
});

describe('a data retention policy', () => {
  it.each([1, 30, 36_500, null])('is set to %j days', (days) => given().when(set(days)).yields(born(days)));

  it.each([
    [0, 'greater than 0'],
    [-1, 'greater than 0'],
    [1.5, 'a whole number'],
    [36_501, 'at most 36500'],
  ])('is not set to %j days', (days, detail) => {
    given().when(set(days)).refuses('unprocessable', detail);
    given(born(30)).when(set(days)).refuses('unprocessable', detail);
  });

  it('is changed by being set again, also into the other kind and back', () => {
    given(born(30)).when(set(60)).yields(changed(60));
    given(born(30)).when(set(null)).yields(changed(null));
    given(born(30), changed(null)).when(set(30)).yields(changed(30));
  });

  it('says nothing where it is so already', () => {
    given(born(30)).when(set(30)).yields();
    given(born(30), changed(null)).when(set(null)).yields();
  });

  it('is removed, telling what it was last, and gone', () => {
    given(born(30), changed(60)).when(remove).yields(removed(60));
    given(born(null)).when(remove).yields(removed(null));
    given().when(remove).refuses('not-found', 'Not found');
    given(born(30), removed(30)).when(remove).refuses('not-found', 'Not found');
    given(born(30), removed(30)).when(set(30)).refuses('not-found', 'Not found');
  });
});
