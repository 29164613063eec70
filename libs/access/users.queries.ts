import { sql } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import { fresh } from './fresh.js';

export type UserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly siteAdmin: boolean;
};

export const userById = (database: Database, id: string, actor: Actor): Promise<UserRow | undefined> =>
  database.row<UserRow>(sql`
    select id, username, email, site_admin as "siteAdmin" from users where id = ${id} and ${fresh(actor)}`);
