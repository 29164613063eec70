import { createHash } from 'node:crypto';
import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
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
import { Vault } from '#storage/vault';
import { changeResource, createResource, type Actor } from '#api/access';
import { policy, type PolicyAttributes } from './policy.js';
import {
  findPolicyForCommand,
  hasPolicies,
  hasPolicyBytes,
  hasPolicyDigest,
  loadOrganizationForPolicy,
  POLICY_NAMES,
  selectPolicyById,
  type RegoPolicyRow,
} from './policies.view.js';

type PolicyOperations = {
  CreatePolicy: Operation<{ organization: string; attributes: PolicyAttributes; actor: Actor }, RegoPolicyRow>;
  /** Resolves to null if the policy has been deleted meanwhile. */
  UpdatePolicy: Operation<
    { id: string; changes: Partial<Omit<PolicyAttributes, 'name'>>; actor: Actor },
    RegoPolicyRow | null
  >;
  UploadPolicy: Operation<{ id: string; text: Buffer; actor: Actor }, void>;
  DeletePolicy: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangePolicy<T extends keyof PolicyOperations> extends AggregateCommand<PolicyOperations, T> {}

/** The most policies of an organization, and the most bytes of their texts together: each plan gets all texts that it needs. */
const MAX_POLICIES = 100;
const MAX_TEXTS_BYTES = 4 * 1_024 * 1_024;

const refuseTaken = refuseTakenName(POLICY_NAMES.constraint);

const refuseLimit = (): never => {
  throw unprocessable(`An organization can have at most ${MAX_POLICIES} policies. Delete one first`);
};

const refuseTextLimit = (): never => {
  throw unprocessable(
    `The texts of all policies of an organization can have at most ${MAX_TEXTS_BYTES} bytes together`,
  );
};

/** Changes of numbers and sizes lock this name, so that the limits are exact. No event has this stream. */
const nameLock = (organization: string): string => `policies of ${organization}`;

@CommandHandler(ChangePolicy)
export class PoliciesHandler extends AggregateHandler<PolicyOperations> {
  protected readonly operations: OperationTable<PolicyOperations> = {
    CreatePolicy: (input) => this.create(input),
    UpdatePolicy: async ({ id, changes, actor }) => {
      const rows = await changeResource(this.store, policy, {
        actor,
        load: () => findPolicyForCommand(this.store.database, actor, id),
        command: { type: 'UpdatePolicy', data: changes },
        read: () => [selectPolicyById(id)],
      });
      return getFirstRowOrNull<RegoPolicyRow>(rows);
    },
    UploadPolicy: (input) => this.upload(input),
    DeletePolicy: async ({ id, actor }) => {
      await changeResource(this.store, policy, {
        actor,
        load: () => findPolicyForCommand(this.store.database, actor, id),
        command: { type: 'DeletePolicy', data: {} },
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {
    super();
  }

  private async create(input: PolicyOperations['CreatePolicy']['input']): Promise<RegoPolicyRow> {
    const { organization: name, attributes, actor } = input;
    const id = this.ids.next('pol');
    const rows = await createResource(this.store, policy, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForPolicy(this.store.database, actor, name);
        if (parent.existing >= MAX_POLICIES) refuseLimit();
        return parent;
      },
      command: { type: 'CreatePolicy', data: attributes },
      conditions: ({ organization }) => [
        lockStream(nameLock(organization)),
        raiseConflictWhen(hasPolicies(organization, MAX_POLICIES)),
      ],
      read: () => [selectPolicyById(id)],
    }).catch(refuseTaken);
    return getFirstRow<RegoPolicyRow>(rows);
  }

  private async upload({ id, text, actor }: PolicyOperations['UploadPolicy']['input']): Promise<void> {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const most = MAX_TEXTS_BYTES - text.length;
    const before = await findPolicyForCommand(this.store.database, actor, id);
    if (before.sha256 === sha256 && !before.hasText) await this.restoreText(before, sha256, text);
    await changeResource(this.store, policy, {
      actor,
      load: async () => {
        const row = await findPolicyForCommand(this.store.database, actor, id);
        if (row.otherBytes > most) refuseTextLimit();
        return row;
      },
      command: { type: 'UploadPolicy', data: { sha256, size: text.length } },
      conditions: ({ organization }) => [
        lockStream(nameLock(organization)),
        raiseConflictWhen(hasPolicyBytes(organization, id, most)),
      ],
      // Without a change nothing is appended, so that nothing would lock the text.
      read: (row) =>
        row.sha256 === sha256 ? [] : [this.vault.storeSecret(id, row.organization, text.toString('utf8'))],
    });
  }

  /** Stores a text that the vault has lost, as after the restore of a backup, unless another upload replaces it. */
  private async restoreText({ id, organization }: RegoPolicyRow, sha256: string, text: Buffer): Promise<void> {
    await this.store.database.transaction([
      lockStream(nameLock(organization)),
      this.vault.storeSecret(id, organization, text.toString('utf8'), hasPolicyDigest(id, sha256)),
    ]);
  }
}
