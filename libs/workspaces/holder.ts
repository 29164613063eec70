import type { Person } from '#access/rules';

const KIND = { users: 'User', teams: 'Team', runs: 'Run' } as const;

/** `locked by User alice`: clients look for these words (clients.md §2). */
export const describeHolder = ({ type, name }: Person): string => `locked by ${KIND[type]} ${name}`;
