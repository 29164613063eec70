import { sql, type Sql } from '#platform/kernel';
import { castRows, type Database } from '#platform/postgres';

/** Reads of rows whose types are wrong, each in one way. test/architecture checks that each is found. */

const PEOPLE = sql`
  select * from (values ('user-1', 'ada', 7, null::text, '{"role": "owner"}'::jsonb, true),
                        ('user-2', 'bo', 8, 'b@a.test', '{"role": "guest"}'::jsonb, false))
             as people (id, name, age, email, access, active)`;

type Person = {
  readonly id: string;
  readonly name: string;
  readonly age: number;
  readonly email: string | null;
  readonly access: { readonly role: 'owner' | 'guest' };
  readonly active: boolean;
};

type Renamed = Omit<Person, 'name'> & { readonly username: string };
type WrongType = Omit<Person, 'age'> & { readonly age: string };
type NotNull = Omit<Person, 'email'> & { readonly email: string };
type NotNullInTable = { readonly id: string; readonly stream: string; readonly organization: string };
type WrongText = Omit<Person, 'access'> & { readonly access: { readonly role: 'owner' } };
type WrongMember = Omit<Person, 'access'> & { readonly access: { readonly level: string } };
type Incomplete = Omit<Person, 'active'>;
type OwnerAlone = { readonly owner: string } & ({ readonly id: string; readonly age: number } | { readonly id: null });

/** The people of an age, or the owner alone. */
const list = (age: number): Sql => sql`
  select 'org-1' as owner, p.id, p.age from (select) o left join (${PEOPLE}) p on p.age = ${age}`;

export const readPlanted = async (database: Database): Promise<void> => {
  await database.rows<Person>(PEOPLE);
  await database.rows<Renamed>(PEOPLE);
  await database.rows<WrongType>(sql`${PEOPLE} where false`);
  await database.row<NotNull>(PEOPLE);
  await database.rows<NotNullInTable>(sql`select id, stream, organization from event_store.events where false`);
  await database.slowRows<WrongText>({ id: 'user-1' }, PEOPLE);
  castRows<WrongMember>((await database.transaction([PEOPLE]))[0] ?? []);
  await database.rows<Incomplete>(PEOPLE);
  await database.rows<OwnerAlone>(sql`${list(7)}`);
  await database.rows<OwnerAlone>(sql`${list(1)}`);
};

/** Never called. */
export const readNothing = (database: Database): Promise<Person[]> => database.rows<Person>(PEOPLE);

export const passRows = <T>(database: Database): Promise<T[]> => database.rows<T>(PEOPLE);

export const inferRows = (database: Database): Promise<Person[]> => database.rows(PEOPLE);

export const believeRow = async (database: Database): Promise<Person> => (await database.rows(PEOPLE))[0] as Person;
