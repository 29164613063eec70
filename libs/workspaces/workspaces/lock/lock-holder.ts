import type { ActingPrincipal } from '#api/access/rules';

const KIND = { users: 'User', teams: 'Team', runs: 'Run' } as const;

/**
 * Returns `locked by User alice`: clients look for these words. A hidden holder is a team that the
 * caller may not see; its name is left out.
 */
export const describeHolder = ({ type, name }: ActingPrincipal, isHidden: boolean): string =>
  `locked by ${KIND[type]} ${isHidden ? '(not visible to you)' : name}`;
