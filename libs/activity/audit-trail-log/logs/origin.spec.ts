import { describe, expect, it } from '@jest/globals';
import { buildNextOrigin, buildOrigin, getOriginNumber } from './origin.js';

const ORG = 'org-2bTkG7aP3cXyWq9d';

describe('the origin of a log', () => {
  it('is the host of the public URL and the id of the organization', () => {
    expect(buildOrigin('https://cadastre.example.com', ORG)).toBe(`cadastre.example.com/${ORG}`);
    expect(buildOrigin('https://localhost:8443', ORG)).toBe(`localhost:8443/${ORG}`);
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
