import { describe, expect, it } from '@jest/globals';
import { RandomIds, SystemClock } from './clock-and-ids.js';

describe('RandomIds and SystemClock', () => {
  const ids = new RandomIds();

  it('create ids in the format of the API, without letters that look alike', () => {
    const many = Array.from({ length: 200 }, () => ids.next('ws'));
    for (const id of many) expect(id).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(new Set(many).size).toBe(200);
  });

  it('create UUIDs that sort by time', () => {
    const many = Array.from({ length: 200 }, () => ids.uuid());
    expect(many[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(many.toSorted()).toEqual(many);
  });

  it('create secrets in the format that clients expect', () => {
    expect(ids.secret()).toMatch(/^[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9]{60}$/);
    expect(ids.secret()).not.toBe(ids.secret());
  });

  it('return the present time', () => {
    const before = Date.now();
    expect(new SystemClock().now().getTime()).toBeGreaterThanOrEqual(before);
  });
});
