import { sql, unprocessable, type OrganizationDeleted, type Projection, type Sql } from '#platform/kernel';
import {
  buildSnapshotJson,
  expectVersion,
  selectStreamVersions,
  type StreamSnapshot,
  type StreamVersion,
  type StreamWrite,
} from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  listInOrganization,
  type Actor,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import { buildSecretDeletion } from '#storage/vault';
import type { SshKeyEvent } from './ssh-key.js';

export const sshKeys: Projection<SshKeyEvent | OrganizationDeleted> = {
  name: 'ssh_keys',
  version: 1,
  tables: ['ssh_keys'],
  on: {
    SshKeyCreated: ({ name }, { stream, organization, time }) => sql`
      insert into ssh_keys (id, organization, name, created_at) values (${stream}, ${organization}, ${name}, ${time})`,
    SshKeyRenamed: ({ name }, { stream }) => sql`update ssh_keys set name = ${name} where id = ${stream}`,
    SshKeyReplaced: null,
    SshKeyDeleted: (_, { stream }) => sql`delete from ssh_keys where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ssh_keys where organization = ${stream}`,
  },
};

/** Deletes the private key from the vault. `tables` is empty, because the vault is not a view. */
export const sshKeySecrets: Projection<Extract<SshKeyEvent, { type: 'SshKeyDeleted' }>> = {
  name: 'ssh_key_secrets',
  tables: [],
  on: { SshKeyDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`) },
};

export type SshKeyRow = { readonly id: string; readonly organization: string; readonly name: string };

const COLUMNS = sql.raw('k.id, k.organization, k.name');

const LIST = {
  permission: 'read-ssh-keys',
  columns: COLUMNS,
  from: sql.raw('from ssh_keys k'),
  where: sql.raw('k.organization = owner.id'),
  order: sql.raw('name, id'),
} as const;

export const selectSshKeyById = (id: string): Sql => sql`select ${COLUMNS} from ssh_keys k where k.id = ${id}`;

type SshKeyForCommand = SshKeyRow & {
  readonly snapshot: StreamSnapshot;
  /**
   * Version of the organization: its deletion also deletes the private key, but appends nothing to the key's stream.
   */
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the key. Throws the refusal of the permission table if the caller lacks the permission. */
export const findSshKey = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<SshKeyForCommand> => {
  const row = await database.row<SshKeyForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[k.organization]'))} as preconditions
      from ssh_keys k join event_store.streams s on s.stream = k.id where k.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

/** Returns one page and the count of all keys, from one statement, and the organization's id. */
export const listSshKeys = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<SshKeyRow> & { readonly organization: string }> =>
  listInOrganization(database, actor, { ...LIST, organization }, page);

/**
 * Returns an expression for the version of the key's stream, for `expectSshKeyVersion`; null if the organization has no
 * such key. `organization` is a column.
 */
export const selectSshKeyVersion = (key: string | null, organization: Sql): Sql =>
  key === null
    ? sql.raw('null::bigint')
    : sql`(select s.version from ssh_keys k join event_store.streams s on s.stream = k.id
            where k.id = ${key} and k.organization = ${organization})`;

/**
 * Expects the key's version in an append that refers to the key, so that the key is not deleted in between. Refuses an
 * unknown key.
 */
export const expectSshKeyVersion = (key: string | null, version: number | null): readonly StreamWrite[] => {
  if (key === null) return [];
  if (version === null) throw unprocessable('SSH key does not exist', 'id');
  return [expectVersion(key, version)];
};
