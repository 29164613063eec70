import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { listInOrganization, type Actor } from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import type { Database } from '#platform/postgres';
import { deriveId } from '#runs/runs';

export const VCS_EVENT_LEVELS = ['info', 'error'] as const;
type VcsEventLevel = (typeof VCS_EVENT_LEVELS)[number];

/** What became of a commit or a delivery. */
export type NewVcsEvent = {
  readonly organization: string;
  /** Id of the OAuth client. */
  readonly client: string;
  /** Id of the workspace; null for an event about the repository. */
  readonly workspace: string | null;
  readonly level: VcsEventLevel;
  readonly message: string;
  readonly suggestedAction: string | null;
  /** Events with the same workspace, message and subject are one event: a commit or a delivery. */
  readonly subject: string;
};

type EventWorkspace = {
  readonly workspace: string;
  readonly workspaceName: string;
  readonly organization: string;
  readonly client: string;
};

/** `location`: where the commit is. `reason`: why it starts no run; null if it starts one. */
export const toCommitEvent = (
  { organization, client, workspace, workspaceName }: EventWorkspace,
  sha: string,
  location: string,
  reason: string | null,
): NewVcsEvent => {
  const commit = `${sha.slice(0, 12)} of ${location}`;
  return {
    organization,
    client,
    workspace,
    level: 'info',
    message:
      reason === null
        ? `Workspace ${workspaceName} runs the commit ${commit}`
        : `Workspace ${workspaceName} does not run the commit ${commit}: ${reason}`,
    suggestedAction: null,
    subject: sha,
  };
};

const toId = ({ client, workspace, message, subject }: NewVcsEvent): string =>
  deriveId('ve', [client, workspace ?? '', message, subject].join('\n'));

/** Returns the statement that stores events. An event that is stored already stays as it is. */
export const storeVcsEvents = (events: readonly NewVcsEvent[], now: Timestamp): Sql => {
  const rows = events.map((event) => ({ ...event, id: toId(event) }));
  return sql`
    insert into commits.vcs_events (id, organization, oauth_client, workspace, level, message, suggested_action, created_at)
    select e.id, e.organization, e.client, e.workspace, e.level, e.message, e."suggestedAction", ${now}
      from jsonb_to_recordset(${sql.json(rows)}::jsonb)
           e (id text, organization text, client text, workspace text, level text, message text, "suggestedAction" text)
    on conflict (id) do nothing`;
};

export type VcsEventRow = {
  readonly id: string;
  readonly organization: string;
  readonly client: string;
  readonly workspace: string | null;
  readonly level: string;
  readonly message: string;
  readonly suggestedAction: string | null;
  readonly createdAt: Timestamp;
};

type VcsEventFilter = {
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** Ids of OAuth clients. */
  readonly clients: readonly string[] | null;
  readonly levels: readonly string[] | null;
};

const LIST = {
  permission: 'manage-vcs-connections',
  columns: sql.raw(`e.id, e.organization, e.oauth_client as client, e.workspace, e.level, e.message,
                    e.suggested_action as "suggestedAction", e.created_at as "createdAt"`),
  from: sql.raw('from commits.vcs_events e'),
  order: sql.raw('"createdAt" desc, id'),
} as const;

/** Returns one page of the events of an organization, the newest first, and the count of all. */
export const listVcsEvents = (
  database: Database,
  actor: Actor,
  organization: string,
  { from, to, clients, levels }: VcsEventFilter,
  page: PageRequest,
): Promise<ListPage<VcsEventRow>> => {
  const where = sql`e.organization = owner.id
    ${from ? sql`and e.created_at >= ${from}` : sql.empty}
    ${to ? sql`and e.created_at <= ${to}` : sql.empty}
    ${clients ? sql`and e.oauth_client = any (${clients}::text[])` : sql.empty}
    ${levels ? sql`and e.level = any (${levels}::text[])` : sql.empty}`;
  return listInOrganization<VcsEventRow>(database, actor, { ...LIST, where, organization }, page);
};

/** Events that are kept of an organization: its Git host can cause any number. */
const MOST_EVENTS = 10_000;
const DELIVERIES_HOURS = 1;

/** Deletes old events and deliveries, those of organizations that do not exist any more, and those beyond `MOST_EVENTS`. */
export const deleteOldVcsEvents = async (database: Database, before: Timestamp, now: Date): Promise<void> => {
  await database.rows(sql`delete from commits.vcs_events e where e.created_at < ${before}`);
  await database.rows(sql`
    delete from commits.vcs_events e where not exists (select 1 from organizations o where o.id = e.organization)`);
  await database.rows(sql`
    delete from commits.vcs_events e
     using organizations o, lateral (
             select n.created_at from commits.vcs_events n where n.organization = o.id
              order by n.created_at desc, n.id offset ${MOST_EVENTS} limit 1) first_dropped
     where e.organization = o.id and e.created_at <= first_dropped.created_at`);
  // Hosts repeat a delivery within minutes.
  const handledBefore = new Date(now.getTime() - DELIVERIES_HOURS * 60 * 60_000).toISOString();
  await database.rows(sql`delete from commits.webhook_deliveries d where d.received_at < ${handledBefore}`);
  await database.rows(sql`
    delete from commits.webhook_deliveries d
     where not exists (select 1 from commits.webhooks h where h.id = d.webhook)`);
};
