import { selectJsonTimestamp, sql, type Sql, type Principal, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Actor } from '#api/access';
import { readForRun } from './run-contents.queries.js';

export type RunEventRow = {
  readonly id: string;
  readonly run: string;
  readonly action: string;
  readonly description: string | null;
  readonly actor: Principal;
  readonly comment: string | null;
  /** Text of the comment; null for other events. */
  readonly body: string | null;
  readonly createdAt: Timestamp;
};

export type CommentRow = { readonly id: string; readonly runEvent: string; readonly body: string };

const EVENT = sql`jsonb_build_object('id', e.id, 'run', e.run, 'action', e.action, 'description', e.description,
  'actor', e.actor, 'comment', c.id, 'body', c.body,
  'createdAt', ${selectJsonTimestamp('e.created_at')})`;
const EVENTS = sql.raw(`run_events e left join run_comments c on c.run_event = e.id`);

const COMMENT = sql.raw(`jsonb_build_object('id', c.id, 'runEvent', c.run_event, 'body', c.body)`);

export const selectCommentById = (id: string): Sql =>
  sql`select c.id, c.run_event as "runEvent", c.body from run_comments c where c.id = ${id}`;

/** Selects the comments of the given runs. */
export const selectCommentsOfRuns = (runs: Sql): Sql => sql`
  select c.id, c.run_event as "runEvent", c.body
    from run_comments c where c.run = any (${runs}) order by c.run, c.version`;

/** Returns all events of a run, oldest first. The vendor does not page this list. */
export const listRunEvents = (database: Database, actor: Actor, run: string): Promise<readonly RunEventRow[]> =>
  readForRun(
    database,
    actor,
    sql`${run}`,
    sql`(select coalesce(jsonb_agg(${EVENT} order by e.version), '[]') from ${EVENTS} where e.run = r.id)`,
  );

export const findRunEvent = (database: Database, actor: Actor, id: string): Promise<RunEventRow> =>
  readForRun(
    database,
    actor,
    sql`(select run from run_events where id = ${id})`,
    sql`(select ${EVENT} from ${EVENTS} where e.id = ${id})`,
  );

export const listComments = (database: Database, actor: Actor, run: string): Promise<readonly CommentRow[]> =>
  readForRun(
    database,
    actor,
    sql`${run}`,
    sql`(select coalesce(jsonb_agg(${COMMENT} order by c.version), '[]') from run_comments c where c.run = r.id)`,
  );

export const findComment = (database: Database, actor: Actor, id: string): Promise<CommentRow> =>
  readForRun(
    database,
    actor,
    sql`(select run from run_comments where id = ${id})`,
    sql`(select ${COMMENT} from run_comments c where c.id = ${id})`,
  );
