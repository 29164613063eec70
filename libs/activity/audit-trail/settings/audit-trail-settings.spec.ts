import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { toTrailSettingsStream, trailSettings } from './audit-trail-settings.js';

const { given } = specify(trailSettings);

const change = (retentionDays: number | null) =>
  ({ type: 'ChangeAuditTrailRetention', data: { retentionDays } }) as const;
const changed = (retentionDays: number | null) =>
  ({ type: 'AuditTrailRetentionChanged', data: { retentionDays } }) as const;
const enable = (isOn: boolean) => ({ type: 'SwitchAuditTrail', data: { enabled: isOn } }) as const;
const enabled = { type: 'AuditTrailEnabled', data: {} } as const;
const disabled = { type: 'AuditTrailDisabled', data: {} } as const;
const test = { type: 'TestAuditTrail', data: {} } as const;

describe('decisions about the settings of an audit trail', () => {
  it.each([1, 90, 36_500, null])('accept a retention of %j days', (days) =>
    given().when(change(days)).yields(changed(days)),
  );

  it('default to fourteen days', () => {
    given().when(change(14)).yields();
    given(changed(30)).when(change(14)).yields(changed(14));
  });

  it('yield no event if nothing changes', () => {
    given(changed(null)).when(change(null)).yields();
    given(changed(null), changed(30)).when(change(30)).yields();
  });

  it.each([
    [0, 'greater than 0'],
    [-3, 'greater than 0'],
    [1.5, 'a whole number'],
    [36_501, 'at most 36500, or null'],
  ])('refuse a retention of %j days', (days, detail) => {
    given().when(change(days)).refuses('unprocessable', detail);
  });

  it('start a log with what its first entry says about older entries', () => {
    const beginning = {
      olderEntries: 2,
      lastOlderEntry: '0199f2c4-7d3e-7a51-9c1b-2f4f7f0e5b11',
      olderDigest: 'bGVhdmVz',
      formerOrigin: null,
      formerCheckpoint: null,
    };
    const started = { type: 'AuditTrailLogStarted', data: beginning } as const;
    given(disabled).when({ type: 'StartAuditTrailLog', data: beginning }).yields(started);
  });

  it('use one stream for each organization', () => {
    expect(toTrailSettingsStream('org-7hGt3KmPq9RsVw2X')).toBe('atrail-7hGt3KmPq9RsVw2X');
  });

  it('enable recording until an owner disables it', () => {
    given().when(enable(true)).yields();
    given().when(enable(false)).yields(disabled);
    given(disabled).when(enable(false)).yields();
    given(disabled, changed(30)).when(enable(true)).yields(enabled);
    given(disabled, enabled).when(change(14)).yields();
  });

  it('refuse a test while recording is disabled', () => {
    given().when(test).yields({ type: 'AuditTrailTested', data: {} });
    given(disabled).when(test).refuses('conflict', 'is disabled');
  });
});
