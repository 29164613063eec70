import { hash } from 'node:crypto';
import { sql, type Sql } from '#platform/kernel';
import { formatCheckpoint, type LogCheckpoint, TILE_WIDTH } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { getLeafBytes, SITE_LOG, splitHashes } from '../tiles/hashes.js';
import type { CompleteTile } from '../tiles/right-edge.js';

/** Leaves that one round adds to one log, so that a long backlog delays no other log. */
const LEAVES_PER_ROUND = 64 * TILE_WIDTH;
/** 256^8 leaves are more than a bigint counts. */
const LEVELS = 7;

type UnsignedLogRow = {
  readonly organization: string;
  readonly size: number;
  /** The number of complete tiles of level 0. */
  readonly tiles: number;
  /** The leaves after them, joined, in the order of the log. Null if there are none. */
  readonly leaves: Buffer | null;
  /** The roots of complete tiles that belong to no complete tile above them, joined, in base64. */
  readonly edge: readonly { readonly level: number; readonly roots: string }[] | null;
  readonly keys: readonly LogKey[] | null;
  readonly last: { readonly size: number; readonly root: string } | null;
  readonly hasTrail: boolean;
  readonly formerOrigins: readonly string[] | null;
};

/** A verifier key of a log. */
export type LogKey = { readonly origin: string; readonly verifierKey: string; readonly source: string };

/** A log with leaves that no checkpoint covers, and what signing needs. */
export type UnsignedLog = {
  readonly organization: string;
  readonly size: number;
  readonly tiles: number;
  readonly leaves: readonly Buffer[];
  readonly roots: readonly (readonly Buffer[])[];
  /** Oldest first. */
  readonly keys: readonly LogKey[];
  readonly last: Pick<LogCheckpoint, 'size' | 'root'> | null;
  /** Whether the log is that of an organization that is not deleted, so that its trail gets entries about the log. */
  readonly hasTrail: boolean;
  /** The origins of the log at other sites, from which the organization was imported. Empty once the log has keys. */
  readonly formerOrigins: readonly string[];
};

export const listUnsignedLogs = async (
  database: Database,
  after: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await database.rows<{ readonly organization: string }>(sql`
    select organization from audit_trail.unsigned_logs where organization > ${after} order by organization limit ${limit}`);
  return rows.map(({ organization }) => organization);
};

/** Returns since when the oldest leaf waits for a checkpoint; null if none does. */
export const findOldestUnsigned = async (database: Database): Promise<string | null> =>
  (await database.row<{ since: string | null }>(sql`select min(since) as since from audit_trail.unsigned_logs`))
    ?.since ?? null;

/** Marks the logs that have keys, but none from this source, so that their next checkpoint announces it. */
export const markLogsWithoutKey = async (database: Database, source: string): Promise<void> => {
  await database.rows(sql`
    insert into audit_trail.unsigned_logs (organization, since)
    select organization, now() from audit_trail.log_keys
     group by organization having bool_and(source <> ${source})
    on conflict do nothing`);
};

/** Loads everything that signing these logs needs, in one statement. */
export const loadUnsignedLogs = async (
  database: Database,
  organizations: readonly string[],
): Promise<readonly UnsignedLog[]> => {
  const rows = await database.rows<UnsignedLogRow>(sql`
    select u.organization, greatest(leaf.size, tile.count * ${TILE_WIDTH}) as size, tile.count as tiles,
           (select string_agg(leaf, '' order by index) from audit_trail.log_leaves l
             where l.organization = u.organization and index >= tile.count * ${TILE_WIDTH}
               and index < tile.count * ${TILE_WIDTH} + ${LEAVES_PER_ROUND}) as leaves,
           (select jsonb_agg(jsonb_build_object('level', edge.level, 'roots', encode(edge.roots, 'base64')))
              from (select t.level, string_agg(t.root, '' order by t.index) as roots
                      from generate_series(0, ${LEVELS - 1}) as edge_level
                      join audit_trail.tiles t
                        on t.organization = u.organization and t.level = edge_level
                       and t.index >= tile.count / (${TILE_WIDTH} ^ (edge_level + 1))::bigint * ${TILE_WIDTH}
                     group by t.level) edge) as edge,
           keys.list as keys,
           (select jsonb_build_object('size', c.size, 'root', encode(c.root, 'base64'))
              from audit_trail.signed_checkpoints c
             where c.organization = u.organization and c.origin = keys.origin order by c.size desc limit 1) as last,
           exists (select from organizations o where o.id = u.organization) as "hasTrail",
           (select jsonb_agg(split_part(data ->> 'trailCheckpoint', E'\\n', 1)) from event_store.events
             where keys.origin is null and stream = u.organization and type = 'OrganizationImported'
               and data ->> 'trailCheckpoint' is not null) as "formerOrigins"
      from unnest(${[...organizations]}::text[]) as u (organization)
      cross join lateral (
        select coalesce((select index + 1 from audit_trail.tiles
                          where organization = u.organization and level = 0 order by index desc limit 1), 0) as count) tile
      cross join lateral (
        select coalesce((select index + 1 from audit_trail.log_leaves
                          where organization = u.organization order by index desc limit 1), 0) as size) leaf
      cross join lateral (
        select jsonb_agg(jsonb_build_object('origin', origin, 'verifierKey', verifier_key, 'source', source)
                         order by position) as list,
               (array_agg(origin order by position desc))[1] as origin
          from audit_trail.log_keys where organization = u.organization) keys`);
  return rows.map(toUnsignedLog);
};

const toUnsignedLog = (row: UnsignedLogRow): UnsignedLog => {
  const roots = Array.from({ length: LEVELS }, (_, level) => {
    const edge = row.edge?.find((each) => each.level === level);
    return edge ? splitHashes(Buffer.from(edge.roots, 'base64')) : [];
  });
  const { organization, size, tiles, keys, last, hasTrail, formerOrigins } = row;
  return {
    organization,
    size,
    tiles,
    leaves: splitHashes(row.leaves ?? Buffer.alloc(0), getLeafBytes(organization)),
    roots,
    keys: keys ?? [],
    hasTrail,
    formerOrigins: formerOrigins ?? [],
    last: last && { size: last.size, root: Buffer.from(last.root, 'base64') },
  };
};

/** Returns the version of the organization's stream. Throws an error if the organization was deleted. */
export const readOrganizationVersion = async (database: Database, organization: string): Promise<number> => {
  const row = await database.row<{ readonly version: number }>(sql`
    select s.version from organizations o join event_store.streams s on s.stream = o.id where o.id = ${organization}`);
  if (!row) throw new Error(`${organization} was deleted while its log was signed`);
  return row.version;
};

/** Adds keys after the keys that a log has. */
export const insertLogKeys = (organization: string, first: number, keys: readonly LogKey[], at: Date): readonly Sql[] =>
  keys.map(
    ({ origin, verifierKey, source }, n) => sql`
      insert into audit_trail.log_keys (organization, position, origin, verifier_key, source, created_at)
      values (${organization}, ${first + n}, ${origin}, ${verifierKey}, ${source}, ${at.toISOString()})`,
  );

/** The condition that another process has added a key, and perhaps another origin, since the log was read. */
export const hasOtherKeys = ({ organization, keys }: UnsignedLog): Sql => sql`
  ${keys.length} <> (select count(*) from audit_trail.log_keys where organization = ${organization})`;

/** A tile that exists already has the same hashes: leaves are never changed. `cadastre verify` compares them. */
export const insertTile = (organization: string, { level, index, hashes, root }: CompleteTile): Sql => sql`
  insert into audit_trail.tiles (organization, level, index, hashes, root)
  values (${organization}, ${level}, ${index}, ${hashes}, ${root}) on conflict do nothing`;

export const lockUnsignedLogs = sql`select pg_advisory_xact_lock(hashtextextended('audit_trail.unsigned_logs', 0))`;

/**
 * Statements that insert a checkpoint and, unless the log is that of the site, its leaf in the log of the site. They need the
 * lock of `lockUnsignedLogs`, which keeps these leaves in order.
 */
export const insertCheckpoint = (
  organization: string,
  { origin, size, root }: LogCheckpoint,
  note: string,
  at: Date,
): readonly Sql[] => {
  const insertion = sql`
    insert into audit_trail.signed_checkpoints (organization, origin, size, root, note, signed_at)
    values (${organization}, ${origin}, ${size}, ${root}, ${note}, ${at.toISOString()}) on conflict do nothing`;
  if (organization === SITE_LOG) return [insertion];
  return [
    sql`with signed as (${insertion} returning 1) ${insertSiteLeaf({ origin, size, root }, sql`signed`)}`,
    MARK_SITE_LOG,
  ];
};

/**
 * Returns a statement that adds a leaf to the log of the site. Readers of a log find its checkpoints by the digest of its
 * origin. Others do not learn the origin from it, because the id of an organization cannot be guessed.
 */
const insertSiteLeaf = (checkpoint: LogCheckpoint, from: Sql): Sql => sql`
  insert into audit_trail.site_leaves (index, leaf)
  select coalesce((select max(index) + 1 from audit_trail.site_leaves), 0), ${computeSiteLeaf(checkpoint)} from ${from}`;

const computeSiteLeaf = (checkpoint: LogCheckpoint): Buffer =>
  Buffer.concat([hash('sha256', checkpoint.origin, 'buffer'), hash('sha256', formatCheckpoint(checkpoint), 'buffer')]);

/** Statements that record in the log of the site which checkpoint was the last one of its previous origin. */
export const insertForkOfSiteLog = (checkpoint: LogCheckpoint): readonly Sql[] => [
  lockUnsignedLogs,
  insertSiteLeaf(checkpoint, sql`(select) fork`),
];

const MARK_SITE_LOG = sql`
  insert into audit_trail.unsigned_logs (organization, since) values (${SITE_LOG}, now()) on conflict do nothing`;

/** Statements that forget a log as unsigned, unless a leaf has come after this size. */
export const clearUnsigned = (organization: string, size: number): readonly Sql[] => [
  lockUnsignedLogs,
  sql`delete from audit_trail.unsigned_logs
       where organization = ${organization}
         and not exists (select from audit_trail.log_leaves where organization = ${organization} and index >= ${size})`,
];
