import { CommandHandler } from '@nestjs/cqrs';
import { Inject } from '@nestjs/common';
import { conflict, sql, type Projection } from '#platform/kernel';
import { changeResource, requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import type { Database } from '#platform/postgres';
import {
  AggregateCommand,
  AggregateHandler,
  buildSnapshotJson,
  EventStore,
  type Operation,
  type OperationTable,
  type StreamSnapshot,
} from '#storage/event-store';
import { buildSecretDeletion, Vault } from '#storage/vault';
import { createSeed } from './derived-keys.service.js';
import { REMOTE_SIGNING_KEY } from './remote-signing-key.token.js';
import { toSeedId, TRAIL_LOG_KEYS_STREAM, trailLogKeys, type TrailLogKeyEvent } from './trail-log-keys.js';

/** Deletes seeds from the vault. `tables` is empty, because the vault is not a view. */
export const trailLogSeeds: Projection<TrailLogKeyEvent> = {
  name: 'trail_log_seeds',
  tables: [],
  on: {
    AuditTrailLogKeyRotated: null,
    AuditTrailLogKeysTrimmed: ({ seeds }) => buildSecretDeletion(sql`select unnest(${seeds.map(toSeedId)}::text[])`),
  },
};

type LogKeysForCommand = { readonly id: string; readonly organization: null; readonly snapshot: StreamSnapshot | null };

/** Returns the stream of the keys for a command. Throws the refusal of the permission table. */
const loadKeysForCommand = async (database: Database, actor: Actor): Promise<LogKeysForCommand> => {
  const row = await database.row<{ readonly snapshot: StreamSnapshot | null }>(sql`
    select case when s.stream is not null then ${buildSnapshotJson('s')} end as snapshot
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join event_store.streams s on s.stream = ${TRAIL_LOG_KEYS_STREAM}`);
  requirePermission(actor, 'manage-site', SITE_SCOPE);
  return { id: TRAIL_LOG_KEYS_STREAM, organization: null, snapshot: row?.snapshot ?? null };
};

type TrailLogKeyOperations = {
  RotateKey: Operation<{ actor: Actor }, void>;
  TrimKeys: Operation<{ actor: Actor }, void>;
};

export class ChangeTrailLogKeys<T extends keyof TrailLogKeyOperations> extends AggregateCommand<
  TrailLogKeyOperations,
  T
> {}

@CommandHandler(ChangeTrailLogKeys)
export class TrailLogKeysHandler extends AggregateHandler<TrailLogKeyOperations> {
  protected readonly operations: OperationTable<TrailLogKeyOperations> = {
    RotateKey: ({ actor }) => this.rotate(actor),
    TrimKeys: async ({ actor }) => {
      const load = () => loadKeysForCommand(this.store.database, actor);
      const command = { type: 'TrimKeys', data: { all: this.remoteKey !== null } } as const;
      await changeResource(this.store, trailLogKeys, { actor, load, command });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    @Inject(REMOTE_SIGNING_KEY) private readonly remoteKey: string | null,
  ) {
    super();
  }

  private async rotate(actor: Actor): Promise<void> {
    const { id, seed } = createSeed();
    await changeResource(this.store, trailLogKeys, {
      actor,
      load: () => this.loadForRotation(actor),
      command: { type: 'RotateKey', data: { seed: id } },
      read: () => [this.vault.storeSecret(toSeedId(id), null, seed)],
    });
  }

  private async loadForRotation(actor: Actor): Promise<LogKeysForCommand> {
    const loaded = await loadKeysForCommand(this.store.database, actor);
    if (this.remoteKey === null) return loaded;
    throw conflict(`Checkpoints are signed by the key ${this.remoteKey} in Vault. Rotate it there`);
  }
}
