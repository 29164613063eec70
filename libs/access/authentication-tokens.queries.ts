import { sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import type { Actor } from './actor.js';
import type { TokenKind } from './authentication-token.js';
import { fresh } from './fresh.js';

export type TokenRow = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly owner: string;
  readonly organization: string | null;
  readonly description: string | null;
  readonly createdByType: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Timestamp;
  readonly expiredAt: Timestamp | null;
  /** Of the team whose members own the organization. */
  readonly ofOwners: boolean;
};

// Organizations are known by their names outside (clients.md §3).
const TOKEN = sql.raw(`t.id, t.kind, t.owner, t.organization, t.description, t.created_by_type as "createdByType",
  coalesce((select o.name from organizations o where o.id = t.created_by), t.created_by) as "createdBy",
  t.created_at as "createdAt", t.expired_at as "expiredAt",
  exists (select 1 from organizations o where o.owners_team = t.owner) as "ofOwners"`);

export const tokensOf = (database: Database, owner: string, kind: TokenKind, actor: Actor): Promise<TokenRow[]> =>
  database.rows<TokenRow>(sql`
    select ${TOKEN} from authentication_tokens t
     where t.owner = ${owner} and t.kind = ${kind} and ${fresh(actor)} order by t.created_at desc, t.id`);

export const tokenById = (database: Database, id: string, actor: Actor): Promise<TokenRow | undefined> =>
  database.row<TokenRow>(sql`select ${TOKEN} from authentication_tokens t where t.id = ${id} and ${fresh(actor)}`);
