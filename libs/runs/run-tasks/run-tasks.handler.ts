import { CommandHandler } from '@nestjs/cqrs';
import { Ids, sql, unprocessable, type Sql } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  raiseConflictWhen,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { buildSecretDeletion, Vault } from '#storage/vault';
import { changeResource, createResource, type Actor } from '#api/access';
import { checkRunTask, runTask, type RunTaskSettings } from './run-task.js';
import {
  findRunTaskForCommand,
  hasRunTasks,
  loadOrganizationForRunTask,
  RUN_TASK_NAMES,
  selectRunTaskById,
  type RunTaskForCommand,
  type RunTaskRow,
} from './run-tasks.view.js';
import { TaskVerification } from './task-verification.service.js';

type NewRunTask = Omit<RunTaskSettings, 'hasHmacKey'>;

type RunTaskOperations = {
  /** `key` signs the requests to the task; null without one. */
  CreateRunTask: Operation<
    { organization: string; settings: NewRunTask; key: string | null; actor: Actor },
    RunTaskRow
  >;
  /** `key`: undefined keeps the key, and null removes it. Resolves to null if the task has been deleted meanwhile. */
  UpdateRunTask: Operation<
    { id: string; changes: Partial<NewRunTask>; key: string | null | undefined; actor: Actor },
    RunTaskRow | null
  >;
  DeleteRunTask: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeRunTask<T extends keyof RunTaskOperations> extends AggregateCommand<RunTaskOperations, T> {}

/** The most run tasks of an organization. */
const MAX_TASKS = 100;

const refuseTaken = refuseTakenName(RUN_TASK_NAMES.constraint);

const refuseLimit = (): never => {
  throw unprocessable(`An organization can have at most ${MAX_TASKS} run tasks. Delete one first`);
};

/** Creations lock this name, so that the number of tasks is exact. No event has this stream. */
const nameLock = (organization: string): string => `run tasks of ${organization}`;

/** Runs a test once, also if a conflict repeats the decision. */
const runOnce = (test: () => Promise<void>): (() => Promise<void>) => {
  let tested: Promise<void> | null = null;
  return () => (tested ??= test());
};

@CommandHandler(ChangeRunTask)
export class RunTasksHandler extends AggregateHandler<RunTaskOperations> {
  protected readonly operations: OperationTable<RunTaskOperations> = {
    CreateRunTask: (input) => this.create(input),
    UpdateRunTask: (input) => this.update(input),
    DeleteRunTask: async ({ id, actor }) => {
      await changeResource(this.store, runTask, {
        actor,
        load: () => findRunTaskForCommand(this.store.database, actor, id),
        command: { type: 'DeleteRunTask', data: {} },
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
    private readonly verification: TaskVerification,
  ) {
    super();
  }

  private async create(input: RunTaskOperations['CreateRunTask']['input']): Promise<RunTaskRow> {
    const { organization: name, settings, key, actor } = input;
    const id = this.ids.next('task');
    const test = runOnce(() => this.verification.verify(name, { url: settings.url, key }));
    const rows = await createResource(this.store, runTask, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForRunTask(this.store.database, actor, name);
        if (parent.existing >= MAX_TASKS) refuseLimit();
        checkRunTask(settings);
        await test();
        return parent;
      },
      command: { type: 'CreateRunTask', data: { ...settings, hasHmacKey: key !== null } },
      conditions: ({ organization }) => [
        lockStream(nameLock(organization)),
        raiseConflictWhen(hasRunTasks(organization, MAX_TASKS)),
      ],
      read: ({ organization }) => [selectRunTaskById(id), ...this.storeKey(id, organization, key ?? undefined)],
    }).catch(refuseTaken);
    return getFirstRow<RunTaskRow>(rows);
  }

  private async update(input: RunTaskOperations['UpdateRunTask']['input']): Promise<RunTaskRow | null> {
    const { id, changes, key, actor } = input;
    const change = key === undefined ? changes : { ...changes, hasHmacKey: key !== null };
    const rows = await changeResource(this.store, runTask, {
      actor,
      load: async () => {
        const row = await findRunTaskForCommand(this.store.database, actor, id);
        await this.verifyChange(row, { ...row, ...changes }, key);
        return row;
      },
      command: { type: 'UpdateRunTask', data: { changes: change, isHmacKeyChanged: key !== undefined } },
      read: ({ organization }) => [selectRunTaskById(id), ...this.storeKey(id, organization, key)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<RunTaskRow>(rows);
  }

  /** Tests the service if its address or its key changes. */
  private async verifyChange(
    before: RunTaskForCommand,
    after: RunTaskSettings & Pick<RunTaskRow, 'organizationName'>,
    key: string | null | undefined,
  ): Promise<void> {
    checkRunTask(after);
    if (after.url === before.url && key === undefined) return;
    const service = { url: after.url, key: key === undefined ? this.decryptKey(before) : key };
    await this.verification.verify(after.organizationName, service);
  }

  /** Throws 422 if the key is damaged. A new key replaces it. */
  private decryptKey({ id, encryptedKey }: RunTaskForCommand): string | null {
    try {
      return encryptedKey === null ? null : this.vault.decrypt(id, encryptedKey);
    } catch {
      throw unprocessable('The stored key could not be decrypted. Send a new hmac-key', 'hmac-key');
    }
  }

  private storeKey(id: string, organization: string, key: string | null | undefined): readonly Sql[] {
    if (key === undefined) return [];
    return [key === null ? buildSecretDeletion(sql`${id}`) : this.vault.storeSecret(id, organization, key)];
  }
}
