import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Refusal, type Sql } from '#platform/kernel';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { Vault } from '#storage/vault';
import { changeResource, createResource, type Actor } from '#api/access';
import type { GrantedToken } from '#vcs/git-hosts';
import { checkApiServer } from './connection-addresses.js';
import { ConnectionTokens } from './connection-tokens.service.js';
import { Connections, requireConnectedProvider } from './connections.service.js';
import {
  checkNewClient,
  checkSshKey,
  oauthClient,
  type NewOauthToken,
  type OauthClientChanges,
  type OauthClientCommand,
  type OauthClientSettings,
} from './oauth-client.js';
import {
  findOauthClientForCommand,
  findOauthTokenForCommand,
  loadOrganizationForClient,
  selectOauthClientById,
  toClientSecretId,
  toSshKeyId,
  type OauthClientForCommand,
  type OauthClientRow,
} from './oauth-clients.view.js';

/** Texts for the vault. Absent ones do not change. */
export type ClientSecrets = {
  /** The access token. */
  readonly tokenText?: string;
  /** The secret of the OAuth application. */
  readonly secret?: string;
};

type OauthClientOperations = {
  CreateOauthClient: Operation<
    { organization: string; settings: OauthClientSettings; secrets: ClientSecrets; actor: Actor },
    OauthClientRow
  >;
  /** Resolves to null if the client has been deleted meanwhile. */
  UpdateOauthClient: Operation<
    { id: string; changes: OauthClientChanges; secrets: ClientSecrets; actor: Actor },
    OauthClientRow | null
  >;
  AuthorizeOauthClient: Operation<{ id: string; granted: GrantedToken; actor: Actor }, void>;
  AddClientProjects: Operation<{ id: string; projects: readonly string[]; actor: Actor }, void>;
  RemoveClientProjects: Operation<{ id: string; projects: readonly string[]; actor: Actor }, void>;
  DestroyOauthClient: Operation<{ id: string; actor: Actor }, void>;
  /** Resolves to null if the token has been deleted meanwhile. `sshKey`: null if the key does not change. */
  UpdateOauthToken: Operation<{ token: string; sshKey: string | null; actor: Actor }, OauthClientRow | null>;
  DestroyOauthToken: Operation<{ token: string; actor: Actor }, void>;
};

export class ChangeOauthClient<T extends keyof OauthClientOperations> extends AggregateCommand<
  OauthClientOperations,
  T
> {}

/** Refuses projects that do not exist in the organization, with a pointer for each. */
const checkProjects = (requested: readonly string[], existing: readonly string[], pointer: string): void => {
  const problems = requested.flatMap((id, index) =>
    existing.includes(id) ? [] : [{ detail: `Project ${id} does not exist`, pointer: `${pointer}/${index}/id` }],
  );
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

const IN_CLIENT = '/data/relationships/projects/data';

@CommandHandler(ChangeOauthClient)
export class OauthClientsHandler extends AggregateHandler<OauthClientOperations> {
  protected readonly operations: OperationTable<OauthClientOperations> = {
    CreateOauthClient: (input) => this.create(input),
    UpdateOauthClient: (input) => this.update(input),
    AuthorizeOauthClient: (input) => this.authorize(input),
    AddClientProjects: ({ id, projects, actor }) => this.changeProjects(id, projects, [], actor),
    RemoveClientProjects: ({ id, projects, actor }) => this.changeProjects(id, [], projects, actor),
    DestroyOauthClient: async ({ id, actor }) => {
      const load = () => findOauthClientForCommand(this.store.database, actor, id);
      await this.change(load, { type: 'DestroyOauthClient', data: {} }, actor);
    },
    UpdateOauthToken: (input) => this.updateToken(input),
    DestroyOauthToken: async ({ token, actor }) => {
      const load = () => findOauthTokenForCommand(this.store.database, actor, token);
      await this.change(load, { type: 'DestroyOauthToken', data: { token } }, actor);
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
    private readonly connections: Connections,
    private readonly tokens: ConnectionTokens,
  ) {
    super();
  }

  private async create(input: OauthClientOperations['CreateOauthClient']['input']): Promise<OauthClientRow> {
    const { organization, settings, secrets, actor } = input;
    const id = this.ids.next('oc');
    const rows = await createResource(this.store, oauthClient, {
      id,
      actor,
      load: async () => {
        const parent = await loadOrganizationForClient(this.store.database, actor, organization, settings.projects);
        requireConnectedProvider(settings.serviceProvider);
        checkNewClient(settings);
        checkProjects(settings.projects, parent.existingProjects, IN_CLIENT);
        return { ...parent, token: await this.prepareToken({ ...settings, token: null }, secrets) };
      },
      command: ({ token }) => ({ type: 'CreateOauthClient', data: { settings, token } }),
      read: (parent) => [selectOauthClientById(id), ...this.storeSecrets(id, parent, secrets)],
    });
    return getFirstRow<OauthClientRow>(rows);
  }

  private async update(input: OauthClientOperations['UpdateOauthClient']['input']): Promise<OauthClientRow | null> {
    const { id, changes, secrets, actor } = input;
    const replacesSecret = secrets.secret !== undefined;
    const rows = await changeResource(this.store, oauthClient, {
      actor,
      load: async () => {
        const row = await findOauthClientForCommand(this.store.database, actor, id, changes.projects);
        checkApiServer(row);
        checkProjects(changes.projects ?? [], row.existingProjects, IN_CLIENT);
        return { ...row, replaced: await this.prepareToken(row, secrets) };
      },
      command: ({ replaced }) => ({ type: 'UpdateOauthClient', data: { changes, token: replaced, replacesSecret } }),
      read: ({ organization, replaced }) => [
        selectOauthClientById(id),
        ...this.storeSecrets(id, { organization, token: replaced }, secrets),
      ],
    });
    return getFirstRowOrNull<OauthClientRow>(rows);
  }

  /** Stores the token that a Git host has granted to a person in a browser. */
  private async authorize({
    id,
    granted,
    actor,
  }: OauthClientOperations['AuthorizeOauthClient']['input']): Promise<void> {
    await changeResource(this.store, oauthClient, {
      actor,
      load: async () => {
        const row = await findOauthClientForCommand(this.store.database, actor, id);
        checkApiServer(row);
        const user = await this.connections.verifyToken({ ...row, text: granted.text });
        return { ...row, authorized: { id: row.token ?? this.ids.next('ot'), user } };
      },
      command: ({ authorized }) => ({ type: 'AuthorizeOauthClient', data: { token: authorized } }),
      read: ({ authorized, organization }) => this.tokens.buildStore(authorized.id, organization, granted),
    });
  }

  /** Returns the token with the account of its new text; null if there is no new text. */
  private async prepareToken(
    row: Pick<OauthClientForCommand, 'serviceProvider' | 'apiUrl' | 'token'>,
    { tokenText: text }: ClientSecrets,
  ): Promise<NewOauthToken | null> {
    if (text === undefined) return null;
    return { id: row.token ?? this.ids.next('ot'), user: await this.connections.verifyToken({ ...row, text }) };
  }

  private storeSecrets(
    id: string,
    { organization, token }: { readonly organization: string; readonly token: NewOauthToken | null },
    { tokenText: text, secret }: ClientSecrets,
  ): readonly Sql[] {
    return [
      ...(secret === undefined ? [] : [this.vault.storeSecret(toClientSecretId(id), organization, secret)]),
      ...(token === null || text === undefined
        ? []
        : this.tokens.buildStore(token.id, organization, { text, renewal: null, expiresInS: null })),
    ];
  }

  private async changeProjects(
    id: string,
    add: readonly string[],
    remove: readonly string[],
    actor: Actor,
  ): Promise<void> {
    const load = async () => {
      const row = await findOauthClientForCommand(this.store.database, actor, id, add);
      checkProjects(add, row.existingProjects, '/data');
      return row;
    };
    await this.change(load, { type: 'ChangeClientProjects', data: { add, remove } }, actor);
  }

  private updateToken(input: OauthClientOperations['UpdateOauthToken']['input']): Promise<OauthClientRow | null> {
    const { token, sshKey, actor } = input;
    const load = async () => {
      const row = await findOauthTokenForCommand(this.store.database, actor, token);
      if (sshKey !== null) checkSshKey(sshKey);
      return row;
    };
    if (sshKey === null) return load();
    const stored = (organization: string) => [this.vault.storeSecret(toSshKeyId(token), organization, sshKey)];
    return this.change(load, { type: 'StoreTokenSshKey', data: { token } }, actor, stored);
  }

  private async change(
    load: () => Promise<OauthClientForCommand>,
    command: OauthClientCommand,
    actor: Actor,
    statements: (organization: string) => readonly Sql[] = () => [],
  ): Promise<OauthClientRow | null> {
    const rows = await changeResource(this.store, oauthClient, {
      actor,
      load,
      command,
      read: ({ id, organization }) => [selectOauthClientById(id), ...statements(organization)],
    });
    return getFirstRowOrNull<OauthClientRow>(rows);
  }
}
