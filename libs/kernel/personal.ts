import { sql, type Sql } from './sql.js';

/**
 * A text that is somebody's: their name, their address. The log keeps it sealed under a key of theirs, so that they can be
 * forgotten (ADR 25).
 */
export type PersonalText = {
  /** Where it stands, key by key. */
  readonly at: readonly string[];
  /** Whose it is: the id of a user. */
  readonly person: string;
  /** What is read in its place once they are forgotten: their id in that of a name, null in that of a detail. */
  readonly kind: 'name' | 'detail';
};

/** Somebody as events and states name them. Only users are people: teams and runs keep their names. */
type Named = { readonly type: string; readonly id: string; readonly name: string };

/** Of an event's data, under whose key `at` somebody stands. */
export const nameAt = (at: string, { type, id }: Omit<Named, 'name'>): readonly PersonalText[] =>
  type === 'users' ? [{ at: [at, 'name'], person: id, kind: 'name' }] : [];

/** Of an event's data that says whom it is about. */
export const usernameOf = ({ user }: { readonly user: string }): readonly PersonalText[] => [
  { at: ['username'], person: user, kind: 'name' },
];

/** The person whom a state names; nobody where it is a team, or somebody who was forgotten. */
export const personIn = (named: Named | null | undefined): readonly string[] =>
  named?.type === 'users' && named.name !== named.id ? [named.id] : [];

/**
 * For projections, of somebody who has been forgotten: what stands in a column, or at `at` in it, as { type, id, name }, names
 * them by their id, as a replay of the log would. It looks through the whole table: nobody is forgotten every day.
 */
export const forgetName = (table: string, column: string, person: string, at: readonly string[] = []): Sql => {
  const named = [column, ...at.map((key) => `'${key}'`)].join(' -> ');
  const path = `'{${[...at, 'name'].join(',')}}'`;
  return sql.slow(sql`
    update ${sql.raw(table)} set ${sql.raw(column)} = jsonb_set(${sql.raw(`${column}, ${path}`)}, to_jsonb(${person}::text))
     where ${sql.raw(named)} ->> 'id' = ${person}`);
};
