import { describe, expect, it } from '@jest/globals';
import { buildFirstOrigin, buildNextOrigin, getOriginNumber } from './origin.js';

const ORG = 'org-2bTkG7aP3cXyWq9d';

describe('the origin of a log', () => {
  it('is the host of the public URL and the id of the organization', () => {
    expect(buildFirstOrigin('https://cadastre.example.com', ORG, [])).toBe(`cadastre.example.com/${ORG}`);
    expect(buildFirstOrigin('https://localhost:8443', ORG, [])).toBe(`localhost:8443/${ORG}`);
  });

  it('has the next number if the organization comes from an earlier installation behind the same host', () => {
    const build = (...former: readonly string[]) => buildFirstOrigin('https://h', ORG, former);
    expect(build(`h/${ORG}`)).toBe(`h/${ORG}/2`);
    expect(build(`h/${ORG}`, `h/${ORG}/9`, `h/${ORG}/10-a1`, `other/${ORG}/70`)).toBe(`h/${ORG}/11`);
    for (const other of [`other/${ORG}`, 'h/org-1', `h/${ORG}/1234567890`, `h/${ORG}/x`, '']) {
      expect(build(other)).toBe(`h/${ORG}`);
    }
  });

  it('is followed by numbered ones', () => {
    const second = buildNextOrigin(`h/${ORG}`, null);
    expect(second).toBe(`h/${ORG}/2`);
    expect(buildNextOrigin(second, null)).toBe(`h/${ORG}/3`);
    expect(buildNextOrigin(second, 'a1b2')).toBe(`h/${ORG}/3-a1b2`);
    expect(buildNextOrigin(`h/${ORG}/3-a1b2`, null)).toBe(`h/${ORG}/4`);
    expect([`h/${ORG}`, second, `h/${ORG}/30-ff`].map(getOriginNumber)).toEqual([1, 2, 30]);
  });
});
