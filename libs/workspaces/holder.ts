/** Who holds a lock, or made a state version. */
export type Holder = { readonly type: 'users' | 'teams' | 'runs'; readonly id: string; readonly name: string };

const KIND = { users: 'User', teams: 'Team', runs: 'Run' } as const;

/** `locked by User alice`: clients look for these words (clients.md §2). */
export const describeHolder = ({ type, name }: Holder): string => `locked by ${KIND[type]} ${name}`;
