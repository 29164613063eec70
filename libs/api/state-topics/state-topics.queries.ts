import { sql, type Sql } from '#platform/kernel';
import { IS_SETTLED, selectViewExchanges } from '#storage/event-store';

/** Ids that the first event of a stream names. */
export type FirstEventRow = {
  readonly stream: string;
  /** Its workspace, also as the owner of a variable or the target of a policy. */
  readonly workspace: string | null;
  readonly project: string | null;
  readonly team: string | null;
};

export const selectFirstEvents = (streams: readonly string[]): Sql => sql`
  select stream, data ->> 'project' as project, data ->> 'team' as team,
         coalesce(data ->> 'workspace',
                  case when data -> 'owner' ->> 'type' = 'workspaces' then data -> 'owner' ->> 'id'
                       when data -> 'target' ->> 'type' = 'workspaces' then data -> 'target' ->> 'id' end) as workspace
    from event_store.events where stream = any (${streams}::text[]) and version = 1`;

/** What is stored about the last message of a key. */
export type StoredDocumentRow = {
  readonly key: string;
  readonly organization: string;
  readonly digest: string | null;
  readonly completeBefore: string | null;
  readonly position: number;
};

export const selectStoredDocuments = (type: string, keys: readonly string[]): Sql => sql`
  select key, organization, encode(digest, 'hex') as digest, complete_before::text as "completeBefore", position
    from state_topics.documents where type = ${type} and key = any (${keys}::text[])`;

export const selectStoredKeys = (type: string, organization: string): Sql => sql`
  select key from state_topics.documents where type = ${type} and organization = ${organization}`;

export type PublishedDocument = {
  readonly key: string;
  readonly organization: string;
  readonly digest: string;
  readonly completeBefore: string;
  readonly position: number;
};

export const storeDocuments = (type: string, documents: readonly PublishedDocument[]): Sql => sql`
  insert into state_topics.documents (type, key, organization, digest, complete_before, position)
  select ${type}, key, organization, decode(digest, 'hex'), "completeBefore"::xid8, position
    from jsonb_to_recordset(${sql.json(documents)}::jsonb) as list (
      key text, organization text, digest text, "completeBefore" text, position bigint)
  on conflict (type, key) do update
    set organization = excluded.organization, digest = excluded.digest, complete_before = excluded.complete_before,
        position = excluded.position`;

export const deleteDocuments = (type: string, keys: readonly string[]): Sql => sql`
  delete from state_topics.documents where type = ${type} and key = any (${keys}::text[])`;

export type StreamVersionRow = { readonly stream: string; readonly version: number };

export const selectVersions = (streams: readonly string[]): Sql => sql`
  select stream, version from event_store.streams where stream = any (${streams}::text[])`;

/** Adds the version of the stream to each row, and the transaction before which all events are in the rows. */
export const addVersions = (rows: Sql, streamColumn: string): Sql => sql`
  select d.*, (select s.version from event_store.streams s where s.stream = d.${sql.raw(`"${streamColumn}"`)}) as "streamVersion",
         pg_snapshot_xmin(pg_current_snapshot())::text as "completeBefore"
    from (${rows}) d`;

/** `stored` is null before the first publication. */
export type GenerationRow = { readonly stored: string | null; readonly exchanges: string };

export const selectGeneration = (views: readonly string[]): Sql => sql`
  select (select fingerprint from state_topics.generation) as stored, ${selectViewExchanges(views)} as exchanges`;

export const storeGeneration = (fingerprint: string): Sql => sql`
  insert into state_topics.generation (fingerprint) values (${fingerprint})
  on conflict (id) do update set fingerprint = excluded.fingerprint`;

/** Makes all documents of these types be published again, also those that have not changed. */
export const forgetDigests = (types: readonly string[]): Sql => sql`
  with documents as (update state_topics.documents set digest = null where type = any (${types}::text[]))
  delete from state_topics.generation`;

export type LogHeadRow = { readonly position: number };

export const selectSettledHead = (): Sql => sql`
  select position from event_store.events where ${IS_SETTLED} order by transaction desc, position desc limit 1`;

export type DocumentKeyRow = { readonly key: string };

/** Organizations that have documents in the topics. */
export const selectStoredOrganizations = (): Sql =>
  sql`select distinct organization as key from state_topics.documents`;
